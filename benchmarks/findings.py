"""What the benchmarks of one module share: sizes as options, findings printed and kept."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def whole_numbers(description: str | None, **defaults: int) -> argparse.Namespace:
    """Options that are whole numbers, from the command line; `description` is the module's own docstring."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"({value})")
    return parser.parse_args()


def publish(found: Mapping[str, Any], path: Path, shown: bool = True) -> None:
    """Print what was found with the machine that it is of, and write it."""
    text = json.dumps({"machine": hardware()} | dict(found), indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")
    if shown:
        print(text)


def hardware() -> dict[str, Any]:
    """The machine, in words, its load when this program began, and what it runs."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "logical_processors": os.cpu_count(),
        "torch": version("torch"),
        "load_before": LOAD,
    }
