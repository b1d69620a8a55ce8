"""Figures as their verbs draw them, for tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

from matplotlib.colors import to_hex

from tests.running import ROOT


def draw(verb: str, folder: Path, hash_seed: str, *arguments: str | Path) -> tuple[bytes, bytes]:
    """Run a figure's verb in a process of its own; return its PDF and PNG."""
    outputs = ["--output-pdf", folder / "f.pdf", "--output-png", folder / "f.png"]
    command = [sys.executable, "-m", "nmt", verb, *map(str, arguments), *map(str, outputs)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
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
