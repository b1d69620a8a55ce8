"""Checksums of files as `sha256sum` writes and checks them: one line per file, its SHA-256 and its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nmt.io.files import refuse_special, sha256


def lines_of(folder: Path, names: Iterable[str]) -> str:
    """Return a line for each of some files in a folder."""
    return "".join(f"{sha256(folder / name)}  {name}\n" for name in names)


def read(path: Path) -> dict[str, str]:
    """Return the SHA-256 by file name. A malformed line gets a name that no file has."""
    refuse_special(path)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return {name: total for total, _, name in (line.partition("  ") for line in lines)}
