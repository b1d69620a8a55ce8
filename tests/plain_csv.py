"""What programs may expect of a CSV file of the results, for tests."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def read_plain(path: Path, columns: Sequence[str], words: Collection[str]) -> pd.DataFrame:
    """Read a table as pandas does unasked: one header, every row as long, plain numbers in all columns but `words`.

    A number has no thousands separator, a point before its decimals, and no unit; a missing one is an empty cell.
    """
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(columns) and len(set(header)) == len(header)
    assert rows and {len(row) for row in rows} == {len(header)}
    for row in rows:
        for name, cell in zip(header, row, strict=True):
            assert name in words or not cell or _NUMBER.fullmatch(cell), f"{path.name}, {name}: {cell!r}"
    table = pd.read_csv(path)
    assert list(table.columns) == header and len(table) == len(rows)
    for name in set(header) - set(words):
        assert pd.api.types.is_numeric_dtype(table[name]), f"{path.name}, {name}"
    return table
