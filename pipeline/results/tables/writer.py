"""Output of tables as CSV for programs, Markdown for readers, and LaTeX for a paper."""

import html
import math
import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pandas as pd
from markdown_it import MarkdownIt

from pipeline.results.seeds import Result
from pipeline.results.tables.latex import make_tabular

RUNNING_TEXT = "Text"
"""Header of a column of running text, which LaTeX breaks into lines."""
_MARKDOWN = MarkdownIt("commonmark").enable("strikethrough")


@dataclass(frozen=True)
class Table:
    """A table in its two forms, for programs and for readers."""

    data: pd.DataFrame
    """The form for programs, with all columns."""
    display: pd.DataFrame
    """The form for readers, with cells of text, laid out as in the paper."""
    text_columns: Collection[str] = ("Model",)
    """Headers of columns with words, which are aligned to the left."""
    group_starts: Sequence[int] = ()
    """Rows that begin a group, with a horizontal line above them."""
    notes: Sequence[str] = ()
    """Paragraphs below the table."""


def format_number(value: float | None, decimals: int) -> str:
    """Return a number with these decimals, or "" for a missing number."""
    return "" if value is None else f"{value:.{decimals}f}"


def format_difference(value: float | None, decimals: int) -> str:
    """Return a difference for readers, with + or a true minus sign; "" for a missing difference."""
    return "" if value is None else f"{value:+.{decimals}f}".replace("-", "−")


def choose_decimals(value: float | None, decimals: int) -> int:
    """Return the paper's number of decimals, or more if fewer than two digits would be left: 3 for 0.034 hours."""
    if not value:
        return decimals
    return max(decimals, 1 - math.floor(math.log10(abs(value))))


def make_frame(records: Sequence[Result], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return records as a table for programs, with these columns or, by default, all columns of the first record."""
    # dtype: otherwise whole numbers would become floats in a column in which one is missing
    return pd.DataFrame(records, columns=columns, dtype=object)


def render_formats(table: Table) -> dict[str, str]:
    """Return the table as CSV, Markdown and LaTeX, by the endings of their files."""
    csv = str(table.data.to_csv(index=False, lineterminator="\n"))
    return {"csv": csv, "md": render_markdown(table), "tex": render_latex(table)}


def render_markdown(table: Table) -> str:
    """Return a pipe table with aligned columns, and the notes below."""
    paragraphs = [make_pipe_table(table.display, table.text_columns)]
    for note in table.notes:
        paragraphs.append(textwrap.fill(escape_markup(note), 100, break_on_hyphens=False))
    return "\n\n".join(paragraphs) + "\n"


def make_pipe_table(cells: pd.DataFrame, text_columns: Collection[str]) -> str:
    """Return cells of text as a Markdown table: text columns aligned to the left, others to the right."""
    alignments = ["left" if header in text_columns else "right" for header in cells.columns]
    escaped_cells = cells.map(_escape_cell).rename(columns=_escape_cell)
    return str(
        escaped_cells.to_markdown(
            index=False,
            tablefmt="pipe",
            colalign=alignments,
            disable_numparse=True,
        )
    )


def _escape_cell(text: str) -> str:
    """Return text for one cell of a pipe table: on one line, with every | escaped."""
    one_line = re.sub(r"[\r\n]+", " ", text)
    return re.sub(r"(?<!\\)\|", r"\|", escape_markup(one_line))  # unless escape_markup has escaped it


def escape_markup(text: str) -> str:
    """Return text in which Markdown finds no mark-up. Text without mark-up stays as it is, such as `RNNsearch-50*`."""
    html_of_plain_text = html.escape(text, quote=False).replace('"', "&quot;")
    if _MARKDOWN.renderInline(text) == html_of_plain_text:
        return text
    return re.sub(r"([\\`*_~<>&\[\]|])", r"\\\1", text)


def render_latex(table: Table) -> str:
    """Return the table as a LaTeX tabular, without a document around it."""
    column_types = ""
    for header in table.display.columns:
        if header == RUNNING_TEXT:
            column_types += r">{\raggedright\arraybackslash}p{12cm}"
        else:
            column_types += "l" if header in table.text_columns else "r"
    return make_tabular(table.display, column_types, table.group_starts, table.notes)
