"""Figures as their verbs draw them, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.running import ROOT


def draw(verb: str, folder: Path, hash_seed: str, *arguments: str | Path) -> tuple[bytes, bytes]:
    """Run a figure's verb in a process of its own; return its PDF and PNG."""
    outputs = ["--output-pdf", folder / "f.pdf", "--output-png", folder / "f.png"]
    command = [sys.executable, "-m", "nmt", verb, *map(str, arguments), *map(str, outputs)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return (folder / "f.pdf").read_bytes(), (folder / "f.png").read_bytes()
