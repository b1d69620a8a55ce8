"""Measure training updates against peers and the machine: `make bench-training`.

Usage: python -m benchmarks.training [--device cpu|cuda] [--threads N] [--rounds N] [--lengths N [N ...]] ...

The defaults are the paper's sizes. Prints a table for each length and writes benchmarks/results/training.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.training import contest, environment, report
from benchmarks.training.contest import ROOT, Measured, Rules
from benchmarks.training.sizes import Machine, Sizes

CONTENDERS = ("rnnsearch", "rnnencdec", "plain", "joeynmt")
SLOW = "grconv"
"""Not among them unless it is asked for: an update does four times the arithmetic of RNNencdec's."""
PEER = "joeynmt"
FOLDER = ROOT / "benchmarks"


def main() -> int:
    """Hold the contest at each length; 1 when one of the project's own contenders failed."""
    options = parse()
    machine = Machine(options.device, options.threads, options.precision)
    updates = options.updates or (20 if options.device == "cuda" else 1)
    rules = Rules(options.warm_up, options.rounds, updates)
    pythons = {name: sys.executable for name in (*options.contenders, *report.PRODUCTS)}
    missing: dict[str, str] = {}
    if PEER in pythons:
        try:
            pythons[PEER] = str(environment.ensure(options.environment, shlex.split(options.pip_options)))
        except environment.Unavailable as error:
            missing[PEER] = str(error)
            del pythons[PEER]
            print(f"Going on without JoeyNMT: {error}", file=sys.stderr, flush=True)
    load = busy()
    found, versions = {}, {}
    for length in options.lengths:
        sizes = make_sizes(options, length)
        measured, failed = contest.hold(pythons, sizes, machine, rules, contest.to_standard_error)
        missing |= failed
        found[str(length)] = report.figures(measured, sizes)
        versions = described(measured)
        show(found[str(length)], sizes, machine, rules, missing)
    write(
        options.output,
        {
            "machine": asdict(machine) | hardware() | versions | {"load_before": load},
            "rules": asdict(rules),
            "sizes": asdict(make_sizes(options, 0)) | {"length": options.lengths},
            "missing": missing,
            "lengths": found,
        },
    )
    return 1 if missing.keys() - {PEER} else 0


def parse() -> argparse.Namespace:
    """Options; the defaults are the paper's sizes."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole: dict[str, tuple[int, str]] = {
        "threads": (2, "of each contender"),
        "rounds": (7, "that count"),
        "warm-up": (1, "rounds before them"),
        "updates": (0, "of a turn; 0 takes 1 on a CPU and 20 on a GPU"),
        "batch": (Sizes.batch, "sentence pairs"),
        "hidden": (Sizes.hidden, "n"),
        "embedding": (Sizes.embedding, "m"),
        "maxout": (Sizes.maxout, "l"),
        "vocabulary": (Sizes.vocabulary, "V, special symbols included"),
        "square": (Sizes.square, "rows and columns of the product that gives the machine's rate"),
    }
    for name, (value, meaning) in whole.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"{meaning} ({value})")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[30, 50], metavar="N",
        help="positions of each sentence on both sides, its end symbol included (30 50)",
    )  # fmt: skip
    parser.add_argument("--contenders", nargs="+", choices=(*CONTENDERS, SLOW), default=CONTENDERS)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of all matrix products (fp32)"
    )
    parser.add_argument("--output", type=Path, default=FOLDER / "results" / "training.json")
    parser.add_argument(
        "--environment", type=Path, default=FOLDER / ".joeynmt", help="where JoeyNMT's environment is made"
    )
    parser.add_argument("--pip-options", default="", help="for making it, as one argument")
    return parser.parse_args()


def make_sizes(options: argparse.Namespace, length: int) -> Sizes:
    """What all contenders get."""
    return Sizes(
        length,
        options.batch,
        options.hidden,
        options.embedding,
        options.maxout,
        options.vocabulary,
        options.square,
    )


def hardware() -> dict[str, Any]:
    """The machine, in words."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "logical_processors": os.cpu_count(),
    }


def busy() -> float | None:
    """How many processes ran in the last minute, before the contest; said where it matters."""
    if not hasattr(os, "getloadavg"):
        return None
    load, free = os.getloadavg()[0], 0.5
    if load > free:
        message = (
            f"Others use this machine (load {load:.1f} of {os.cpu_count()}): figures will be worse and vary"
        )
        print(message, file=sys.stderr, flush=True)
    return load


def described(measured: dict[str, Measured]) -> dict[str, Any]:
    """What the contenders said about torch and the GPU."""
    replies = [one.set_up for one in measured.values()]
    return {key: sorted({reply[key] for reply in replies if reply[key]}) for key in ("torch", "gpu")}


def show(
    found: report.Figures, sizes: Sizes, machine: Machine, rules: Rules, missing: dict[str, str]
) -> None:
    """Print one length's table."""
    place = f"{machine.device}, {machine.threads} threads, {machine.precision}"
    print(
        f"\n{sizes.length} positions a sentence ({sizes.length - 1} words and the end symbol) on both sides, "
        f"batch {sizes.batch}, {place}, medians of {rules.rounds} rounds\n"
    )
    print(report.table(found))
    print(f"\n{report.rates(found)}")
    for name, reason in missing.items():
        print(f"Without {name}: {reason}")
    sys.stdout.flush()


def write(path: Path, found: dict[str, Any]) -> None:
    """Write the JSON file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main())
