"""Checksums of files as `sha256sum` writes and checks them: one line per file, its SHA-256 and its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nmt.io.files import read_small, sha256


def lines_of(files: Mapping[str, Path]) -> str:
    """Return a line for each file, under its name."""
    return "".join(f"{sha256(path)}  {name}\n" for name, path in files.items())


def read(path: Path) -> dict[str, str]:
    """Return the SHA-256 by file name. A malformed line gets a name that no file has."""
    lines = read_small(path).decode("utf-8", errors="replace").splitlines()
    return {name: total for total, _, name in (line.partition("  ") for line in lines)}
