"""Runs external programs, and reports the relevant part of their output if they fail."""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from nmt.errors import UserError

LIMIT = 7 * 24 * 3600.0
"""Seconds after which a program is taken for one that hangs, unless its caller knows better."""

_SHOWN = 300
"""Maximum number of characters of a program's output in an error message."""


def call(command: Sequence[str], folder: Path | None = None, limit: float = LIMIT) -> tuple[int, str]:
    """Run a program for at most `limit` seconds, and return its exit status (124 after them) and its output."""
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return 124, f"error: no end after {limit:,.0f} seconds"
    return result.returncode, result.stdout


def run(command: Sequence[str], problem: str, folder: Path | None = None, limit: float = LIMIT) -> None:
    """Run a program to its end.

    Raises:
        UserError: it failed, or took longer than `limit` seconds. The message is `problem`, and the first line of its
            output with an error.
    """
    code, said = call(command, folder, limit)
    if code:
        raise UserError(f"{problem}: {_first_error(said)}")


def _first_error(said: str) -> str:
    # as a word: a compiler names files such as error_code.hpp before it says what is wrong; a linker says "cannot find"
    said_so = r"\berrors?\b|\bld: cannot find\b|undefined reference"
    errors = [line.strip() for line in said.split("\n") if re.search(said_so, line, re.IGNORECASE)]
    return (errors or [last_line(said)])[0][-_SHOWN:]


def last_line(said: str) -> str:
    """Return the last line of a program's output that is not empty, shortened."""
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    return (lines or ["it said nothing"])[-1][-_SHOWN:]


def unpack(archive: Path, folder: Path) -> None:
    """Write the files of a tar archive of source code below a folder.

    Raises:
        tarfile.TarError: it is damaged, or a member is outside of the folder (not checked by Python before 3.11.4).
    """
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
