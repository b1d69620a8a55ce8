"""Figures as their subcommands draw them, for tests."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from matplotlib.colors import to_hex

from tests.running import nmt, outputs


def draw(command: str, folder: Path, hash_seed: str, *arguments: str | Path) -> tuple[bytes, bytes]:
    """Run a figure's subcommand in a process of its own; return its PDF and PNG."""
    result = nmt("figure", command, *arguments, *outputs(folder, "f", "pdf", "png"), hash_seed=hash_seed)
    assert result.returncode == 0, result.stderr
    return (folder / "f.pdf").read_bytes(), (folder / "f.png").read_bytes()


def colors_of(pdf: bytes) -> set[str]:
    """Colours of lines, fills and text on a PDF's pages, as #rrggbb; greys left out."""
    found = set()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, flags=re.DOTALL):
        try:
            content = zlib.decompress(stream)
        except zlib.error:
            continue
        for rgb in re.findall(rb"(?<![\d.])([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\b", content):
            if len(set(rgb)) > 1:
                found.add(to_hex(tuple(map(float, rgb))))
    return found
