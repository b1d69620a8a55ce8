"""How tables are written: as CSV for programs, Markdown for the eye and LaTeX for a paper."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from nmt.evaluation.seeds import Row
from nmt.io.files import atomic_path
from nmt.report.tables.latex import tex_escape

_WORDS = (
    *("Model", "Compared with", "Device", "Reading", "Sentence", "Text"),
    *("Divided by length", "Shortest", "[UNK]"),
)
"""Headers of columns that hold words."""


@dataclass(frozen=True)
class Table:
    """A table in its two forms.

    `frame` is the machine's: plain columns, everything known. `cells` is the reader's: headers and cells as
    text, laid out as in the paper, a rule above the rows in `rules`, `notes` below.
    """

    frame: pd.DataFrame
    headers: list[str]
    cells: list[list[str]]
    rules: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals; nothing for a missing one."""
    return "" if value is None else f"{value:.{decimals}f}"


def signed(value: float, decimals: int) -> str:
    """A difference for readers: always with its sign, which is a true minus."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def enough(value: float, decimals: int) -> int:
    """The paper's decimals, or more where fewer than two digits would be left (0.034 hours)."""
    return max(decimals, 1 - math.floor(math.log10(abs(value)))) if value else decimals


def frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """The machine's form: these columns of the rows."""
    # as objects: a column of whole numbers with a gap would otherwise turn into floats
    return pd.DataFrame(
        [[row.get(column) for column in columns] for row in rows], columns=columns, dtype=object
    )


def write_table(table: Table, csv: Path, markdown: Path, tex: Path) -> None:
    """Write the three forms, each whole or not at all."""
    _write(csv, table.frame.to_csv(index=False, lineterminator="\n"))
    _write(markdown, as_markdown(table))
    _write(tex, as_tex(table))


def _write(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _alignments(table: Table) -> list[str]:
    """Words to the left, numbers to the right."""
    return ["left" if header in _WORDS else "right" for header in table.headers]


def as_markdown(table: Table) -> str:
    """A pipe table with aligned columns, notes below."""
    cells = [list(map(_markdown_cell, table.headers, row)) for row in table.cells]
    body = tabulate(cells, table.headers, tablefmt="pipe", colalign=_alignments(table), disable_numparse=True)
    notes = [textwrap.fill(note, 100, break_on_hyphens=False) for note in table.notes]
    return "\n\n".join([body, *notes]) + "\n"


def _markdown_cell(header: str, cell: str) -> str:
    """Running text may hold what Markdown takes for its own; other cells hold none of it."""
    return re.sub(r"([\\`*_<>|])", r"\\\1", cell) if header == "Text" else cell


_TEX_HEAD = r"""\documentclass[border=4pt]{standalone}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{array}
\usepackage{booktabs}
\newsavebox{\tablebody}
\newlength{\notewidth}
\begin{document}
"""
# notes as wide as the table, or wide enough to read below a narrow one
_TEX_NOTES = r"""\setlength{\notewidth}{\wd\tablebody}
\ifdim\notewidth<12cm \setlength{\notewidth}{12cm}\fi
\begin{tabular}{@{}l@{}}
\usebox{\tablebody} \\ \noalign{\vskip 6pt}
\parbox{\notewidth}{\footnotesize\raggedright
%s}
\end{tabular}
\end{document}
"""


def as_tex(table: Table) -> str:
    """A LaTeX document of its own: the table with booktabs' rules, notes below."""
    columns = "".join(map(_tex_column, table.headers, _alignments(table)))
    lines = [rf"\sbox{{\tablebody}}{{\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_tex_row(table.headers), r"\midrule"]
    for index, cells in enumerate(table.cells):
        lines += [r"\midrule"] * (index in table.rules) + [_tex_row(cells)]
    lines += [r"\bottomrule", r"\end{tabular}}", ""]
    notes = "\n".join(tex_escape(note) + r"\par" for note in table.notes)
    return _TEX_HEAD + "\n".join(lines) + _TEX_NOTES % notes


def _tex_column(header: str, side: str) -> str:
    """A column's letter; running text breaks into lines."""
    return r">{\raggedright\arraybackslash}p{12cm}" if header == "Text" else side[0]


def _tex_row(cells: Sequence[str]) -> str:
    # a row that began with [ would be read as the optional argument of the \\ before it
    return (
        " & ".join(f"{{{tex_escape(cell)}}}" if cell.startswith("[") else tex_escape(cell) for cell in cells)
        + r" \\"
    )
