"""The parts that all benchmarks share: folders, a parser for options, JSON files, and the machine in words."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
RESULTS = FOLDER / "results"
LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
"""The machine's load when this program began; None if the system does not tell it."""


def make_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser for the options of `python -m MODULE`. `description` is the module's own docstring."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Write results as JSON, the whole file or nothing."""
    from nmt.io.files import atomic_path  # not above: `waiting` must import torch before nmt

    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def hardware() -> dict[str, Any]:
    """Return the machine in words, its load when this program began, and the versions of code, Python and torch."""
    from nmt.io.environment import code, release_name  # not above, as in `write`

    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "code": release_name(code()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "logical_processors": os.cpu_count(),
        "torch": version("torch"),
        "load_before": LOAD,
    }
