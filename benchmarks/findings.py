"""What all benchmarks share: folders, options, the machine in words, and results with a line per measurement."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
RESULTS = FOLDER / "results"


def make_parser(module: str, description: str | None, whole: Mapping[str, int]) -> argparse.ArgumentParser:
    """Return a parser for the options of `python -m MODULE`, those with whole numbers and their defaults in `whole`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, value in whole.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"({value})")
    parser.add_argument("--busy", action="store_true", help="beside another process on each core")
    parser.add_argument("--output", type=Path, help="file to which the measurements are added")
    parser.add_argument(
        "--environments",
        type=Path,
        default=FOLDER,
        help="where the peers' environments are made (%(default)s)",
    )
    parser.add_argument("--pip-options", default="", help="for making them, as one argument")
    return parser


def append(path: Path, measurements: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> None:
    """Add a line of JSON for each measurement, with the facts that all of them share."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({**one, **about}) + "\n" for one in measurements)


def machine(is_busy: bool) -> dict[str, Any]:
    """Return the machine in words, its load, and the versions of the code and of torch."""
    from nmt.io.system import code, release_name

    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "busy": is_busy,
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "torch": version("torch"),
        "code": release_name(code()),
        "load_before": round(os.getloadavg()[0], 2),
    }


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep cores busy inside a `with` block: so many loops, which also end if this process is killed."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    others = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
