"""Reads files that a spreadsheet has written: tab-separated cells, some of them in quotes.

A cell with a quote, a tab or a line break is in quotes, and its own quotes are doubled.
"""

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from nmt.io.progress import Progress
from nmt.io.text_files import read_lines


def read_rows(path: Path, progress: Progress | None) -> Iterator[list[str]]:
    """Yield the cells of each row of the file of a spreadsheet. Line breaks in a cell become spaces."""
    for row, _ in _parse_rows(path, progress):
        yield [cell.replace("\n", " ") for cell in row]


@cache
def is_spreadsheet(path: Path, column_count: int) -> bool:
    """Return whether a file with this number of columns was written by a spreadsheet.

    All quotes of such a file follow the rules of spreadsheets. In addition, some quotes must be of a kind that only
    spreadsheets write: doubled in a cell, around a cell of several lines, or around every cell.
    """
    has_evidence = False
    all_cells_are_quoted = True
    try:
        for cells, text in _parse_rows(path):
            if not any(cells):
                continue
            # a tab at the end of a line opens an empty cell
            row = cells if any(cells[column_count:]) else cells[:column_count]
            # a spreadsheet doubles a quote in a cell, so it would not write the line `5" disk`
            if len(row) != column_count or any(cell.replace('"', '""') not in text for cell in row):
                return False
            inner_quotes = sum(cell.count('"') for cell in row)
            outer_quotes = text.count('"') - 2 * inner_quotes
            if outer_quotes != 2 * column_count:
                all_cells_are_quoted = False
            # in a file of one column, a quotation that ends on a later line looks like a cell of several lines
            has_several_lines = "\n" in text and column_count > 1
            if inner_quotes or has_several_lines:
                has_evidence = True
    except csv.Error:  # a quote that breaks the rules
        return False
    return has_evidence or all_cells_are_quoted


def _parse_rows(path: Path, progress: Progress | None = None) -> Iterator[tuple[list[str], str]]:
    """Yield the cells of each row, and the text of the row in the file.

    Raises:
        csv.Error: a quote is not as a spreadsheet writes it.
    """
    row_lines: list[str] = []

    def read_and_keep_lines() -> Iterator[str]:
        for line in read_lines(path, progress):
            row_lines.append(line)
            yield f"{line}\n"

    for row in csv.reader(read_and_keep_lines(), "excel-tab", strict=True):
        yield row or [""], "\n".join(row_lines)
        row_lines.clear()
