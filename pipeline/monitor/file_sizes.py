"""Sizes of the files that jobs have made: a file that became shorter later, with the same time, is made again.

Snakemake only looks at times. A file with another time was written by another job or person, and stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import read_json, write_json

FILE = Path(".snakemake") / "file-sizes.json"


@dataclass(frozen=True)
class Damaged:
    """A file that does not have the size that it was made with."""

    path: str
    bytes: int
    made_with: int

    def __str__(self) -> str:
        return f"{self.path}: {self.bytes:,} bytes, but {self.made_with:,} when it was made"


def record(files: Iterable[str]) -> None:
    """Add the times and sizes of files that a run has looked at, and forget files that are gone."""
    recorded, updated = _recorded(Path()), {}
    for file in {*recorded, *files}:
        if os.path.isfile(file):
            status = os.stat(file)
            time, size = recorded.get(file, (None, None))
            # with an unchanged time the recorded size stays, so a damaged file stays known
            updated[file] = [status.st_mtime_ns, size if time == status.st_mtime_ns else status.st_size]
    write_json(FILE, updated)


def _recorded(folder: Path) -> dict[str, tuple[int, int]]:
    try:
        recorded = read_json(folder / FILE) if (folder / FILE).is_file() else {}
        return {str(file): (int(time), int(size)) for file, (time, size) in recorded.items()}
    except (UserError, AttributeError, TypeError, ValueError):
        return {}  # this run's end writes it anew


def damaged(folder: Path) -> list[Damaged]:
    """Return the files of an experiment that have the time, but not the size, that they were made with."""
    return [
        Damaged(file, status.st_size, size)
        for file, (time, size) in _recorded(folder).items()
        if (folder / file).is_file()
        and (status := (folder / file).stat()).st_mtime_ns == time
        and status.st_size != size
    ]


def left_damaged(command: Collection[str], folder: Path) -> list[str]:
    """Return a line for each damaged file that a command of Snakemake does not name as one to make again."""
    return [
        f"{file}; add to the command: --forcerun {file.path}"
        for file in damaged(folder)
        if file.path not in command
    ]
