"""Output of tables as CSV for programs, Markdown for reading, and LaTeX for a paper."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from markdown_it import MarkdownIt

from pipeline.results.seeds import Row
from pipeline.results.tables.latex import tabular

WIDE = "Text"
"""Header of a column of running text, which LaTeX breaks into lines."""


@dataclass(frozen=True)
class Table:
    """A table in its two forms.

    data: the form for programs, with all columns. display: the form for readers, with cells of text, laid out as in the
    paper. words: its columns with words, which are aligned to the left. rules: rows with a rule above them. notes:
    paragraphs below.
    """

    data: pd.DataFrame
    display: pd.DataFrame
    words: Collection[str] = ("Model",)
    rules: Sequence[int] = ()
    notes: Sequence[str] = field(default_factory=list)


def fixed(value: float | None, decimals: int) -> str:
    """Return a number with so many decimals; nothing for a missing one."""
    return "" if value is None else f"{value:.{decimals}f}"


def signed(value: float, decimals: int) -> str:
    """Return a difference for readers: always with its sign, which is a true minus."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def enough(value: float, decimals: int) -> int:
    """Return the paper's decimals, or more where fewer than two digits would be left (0.034 hours)."""
    return max(decimals, 1 - math.floor(math.log10(abs(value)))) if value else decimals


def make_frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """Return the machine's form: these columns of the rows."""
    # as objects: a column of whole numbers with a gap would otherwise turn into floats
    return pd.DataFrame(rows, columns=list(columns), dtype=object)


def forms(table: Table) -> dict[str, str]:
    """Return the table as CSV, Markdown and LaTeX, by the endings of their files."""
    csv = str(table.data.to_csv(index=False, lineterminator="\n"))
    return {"csv": csv, "md": as_markdown(table), "tex": as_tex(table)}


def as_markdown(table: Table) -> str:
    """Return a pipe table with aligned columns, notes below."""
    notes = [textwrap.fill(without_markup(note), 100, break_on_hyphens=False) for note in table.notes]
    return "\n\n".join([pipe_table(table.display, table.words), *notes]) + "\n"


def pipe_table(shown: pd.DataFrame, words: Collection[str]) -> str:
    """Return cells of text as a table in Markdown: columns of words to the left, others to the right."""
    sides = ["left" if header in words else "right" for header in shown.columns]
    cells = shown.map(_cell).set_axis([_cell(header) for header in shown.columns], axis=1)
    return str(cells.to_markdown(index=False, tablefmt="pipe", colalign=sides, disable_numparse=True))


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\|", without_markup(re.sub(r"[\r\n]+", " ", text)))


@lru_cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def without_markup(text: str) -> str:
    """Return text in which Markdown finds no mark-up: as it is where it finds none anyway, otherwise escaped."""
    plain = html.escape(text, quote=False).replace('"', "&quot;")
    return text if _markdown().renderInline(text) == plain else re.sub(r"([\\`*_~<>&\[\]|])", r"\\\1", text)


def as_tex(table: Table) -> str:
    """Return a bare tabular with booktabs' rules."""
    columns = "".join(
        r">{\raggedright\arraybackslash}p{12cm}" if header == WIDE else "l" if header in table.words else "r"
        for header in table.display.columns
    )
    return tabular(table.display, columns, table.rules, table.notes)
