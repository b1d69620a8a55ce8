"""Cells of a spreadsheet's file: any with a quote, tab or line break is in quotes, and its own quotes are doubled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from nmt.io.progress import Progress
from nmt.io.text_files import read_lines

LONGEST_CELL = 10_000
"""Maximum number of characters of a row with line breaks. A quote that nobody closes is no cell."""
_CELL = re.compile(r'"((?:[^"]++|"")*+)"(?=\t|\Z)|([^"\t]*+)(?=\t|\Z)')
_BEGUN = re.compile(r'(?:[^"\t]*+\t|"(?:[^"]++|"")*+"\t)*+"(?:[^"]++|"")*+')
"""The beginning of a row whose last cell goes on in the next line."""


def rows(path: Path, progress: Progress | None = None) -> Iterator[list[str]]:
    """Yield the cells of each row of a spreadsheet's file. Line breaks in a cell become spaces."""
    for row in _rows(read_lines(path, progress)):
        assert row is not None  # `is_spreadsheet` has seen them all
        yield [(quoted.replace('""', '"') if quoted else plain).replace("\n", " ") for quoted, plain in row]


@cache
def is_spreadsheet(path: Path, columns: int) -> bool:
    """Return whether a file was written by a spreadsheet, and has something in quotes that is not as in a text.

    Every quote must then be as a spreadsheet writes it, and some must be as nobody else does: doubled in a cell, around
    a cell of several lines, or around every cell.
    """
    evidence, all_quoted = False, True
    for row in _rows(read_lines(path)):
        if row is None or len(row) != columns:
            return False
        quoted = [cell for cell, _ in row if cell]
        evidence |= any('""' in cell or ("\n" in cell and columns > 1) for cell in quoted)
        all_quoted &= len(quoted) == columns
    return evidence or all_quoted


def _rows(lines: Iterator[str]) -> Iterator[list[tuple[str, str]] | None]:
    """Yield each row's cells, as what is between quotes or without them; None for a line that no spreadsheet writes."""
    row = ""
    for line in lines:
        row += line.removeprefix("\ufeff").rstrip("\r")
        if '"' not in row:
            yield [("", cell) for cell in row.split("\t")]
        elif cells := _cells(row):
            yield cells
        elif len(row) < LONGEST_CELL and _BEGUN.fullmatch(row):
            row += "\n"
            continue
        else:
            yield None
        row = ""
    if row:
        yield None


def _cells(row: str) -> list[tuple[str, str]]:
    """Return the cells of a whole row; none if it is none."""
    cells, place = [], 0
    while match := _CELL.match(row, place):
        cells.append((match[1] or "", match[2] or ""))
        place = match.end() + 1
        if match.end() == len(row):
            return cells
    return []
