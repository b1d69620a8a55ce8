"""Output of tables as CSV for programs, Markdown for readers, and LaTeX for a paper."""

import html
import re
import textwrap
from collections.abc import Callable, Collection, Sequence

import pandas as pd
from markdown_it import MarkdownIt
from tabulate import tabulate

from pipeline.results.tables.latex import render_latex
from pipeline.results.tables.table import Table

_MARKDOWN = MarkdownIt("commonmark").enable("strikethrough")


def render_csv(table: Table) -> str:
    """Return the records of a table."""
    # dtype: otherwise whole numbers would become floats in a column in which one is missing
    data = pd.DataFrame(table.records, columns=table.csv_columns, dtype=object)
    return str(data.to_csv(index=False, lineterminator="\n"))


def render_markdown(table: Table) -> str:
    """Return a pipe table with aligned columns, and the notes below."""
    paragraphs = [make_pipe_table(table.headers, table.rows, table.text_columns)]
    for note in table.notes:
        paragraphs.append(textwrap.fill(escape_markup(note), 100, break_on_hyphens=False))
    return "\n\n".join(paragraphs) + "\n"


def make_pipe_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], text_columns: Collection[str]
) -> str:
    """Return cells of text as a Markdown table: text columns aligned to the left, others to the right."""
    header, *body = [list(map(_escape_cell, cells)) for cells in (headers, *rows)]
    alignments = ["left" if name in text_columns else "right" for name in headers]
    return str(tabulate(body, header, tablefmt="pipe", colalign=alignments, disable_numparse=True))


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


RENDERERS: dict[str, Callable[[Table], str]] = {"csv": render_csv, "md": render_markdown, "tex": render_latex}
"""The function that makes the content of a table's file, by the ending of the file."""
