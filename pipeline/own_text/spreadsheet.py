"""Reads files that a spreadsheet has written: tab-separated cells, some of them in quotes.

A cell with a quote, a tab or a line break is in quotes, and its own quotes are doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nmt.io.progress import Progress
from nmt.io.text_files import read_lines

MAX_ROW_CHARACTERS = 10_000
"""Maximum length of a row with line breaks. A quote that is still open there does not begin a cell."""
_CELL = re.compile(r'"(?P<quoted>(?:[^"]++|"")*+)"(?=\t|\Z)|(?P<plain>[^"\t]*+)(?=\t|\Z)')
_OPEN_ROW = re.compile(r'(?:[^"\t]*+\t|"(?:[^"]++|"")*+"\t)*+"(?:[^"]++|"")*+')
"""The beginning of a row whose last cell continues in the next line."""


class Cell(NamedTuple):
    """A cell of a row. text: as in the file, but without the quotes around it. Empty cells count as not quoted."""

    text: str
    is_quoted: bool


def read_rows(path: Path, progress: Progress | None = None) -> Iterator[list[str]]:
    """Yield the cells of each row of the file of a spreadsheet. Line breaks in a cell become spaces."""
    for row in _read_cells(read_lines(path, progress)):
        assert row is not None  # `is_spreadsheet` has read the whole file
        texts = []
        for cell in row:
            text = cell.text.replace('""', '"') if cell.is_quoted else cell.text
            texts.append(text.replace("\n", " "))
        yield texts


@cache
def is_spreadsheet(path: Path, columns: int) -> bool:
    """Return whether a spreadsheet has written a file with so many columns.

    Every quote must then be as a spreadsheet writes it, and some must be as only a spreadsheet writes them: doubled in
    a cell, around a cell of several lines, or around every cell.
    """
    has_evidence, all_are_quoted = False, True
    for row in _read_cells(read_lines(path)):
        if row is None or len(row) != columns:
            return False
        for cell in row:
            if not cell.is_quoted:
                all_are_quoted = False
            elif '""' in cell.text or ("\n" in cell.text and columns > 1):
                has_evidence = True
    return has_evidence or all_are_quoted


def _read_cells(lines: Iterator[str]) -> Iterator[list[Cell] | None]:
    """Yield the cells of each row, or None for a line that no spreadsheet writes."""
    row = ""  # the lines of the row so far
    for line in lines:
        row += line.removeprefix("\ufeff").rstrip("\r")
        if '"' not in row:
            yield [Cell(text, is_quoted=False) for text in row.split("\t")]
        elif cells := _split_row(row):
            yield cells
        elif len(row) < MAX_ROW_CHARACTERS and _OPEN_ROW.fullmatch(row):
            # the last cell has a line break, and continues in the next line
            row += "\n"
            continue
        else:
            yield None
        row = ""
    if row:
        yield None


def _split_row(row: str) -> list[Cell]:
    """Return the cells of a complete row, or an empty list if it is incomplete or not as a spreadsheet writes it."""
    cells: list[Cell] = []
    end = -1  # position of the tab that follows the last cell
    while end < len(row):
        match = _CELL.match(row, end + 1)
        if not match:
            return []
        text = match["quoted"] or match["plain"] or ""
        cells.append(Cell(text, is_quoted=bool(match["quoted"])))
        end = match.end()
    return cells
