"""What the benchmarks of one module share: sizes as options, findings printed and kept."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def whole_numbers(description: str | None, **defaults: int) -> argparse.Namespace:
    """Options that are whole numbers, from the command line; `description` is the module's own docstring."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"({value})")
    return parser.parse_args()


def publish(found: Mapping[str, Any], path: Path, shown: bool = True) -> None:
    """Print what was found, and write it."""
    text = json.dumps(found, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")
    if shown:
        print(text)
