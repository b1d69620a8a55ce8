"""Compare training updates with peers and the machine's limit: `make bench-training`.

Usage: python -m benchmarks.training [--device cpu|cuda] [--threads N] [--rounds N] [--lengths N [N ...]] ...

The defaults are the paper's sizes. A table is printed for each length, and all figures are written to
benchmarks/results/training.json.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.findings import FOLDER, LOAD, RESULTS, hardware, make_parser, write
from benchmarks.training import contest, environment, report
from benchmarks.training.contest import SMALL_PAGES, Rules
from benchmarks.training.environment import peer_of
from benchmarks.training.sizes import Machine, Sizes
from benchmarks.waiting import busy

CONTENDERS = ("rnnsearch", "rnnencdec", "joeynmt", "sockeye", "marian", "marian-intel")
ASKED_FOR = ("grconv", SMALL_PAGES)
"""These run only if they are asked for. An update of grConv has four times the arithmetic of RNNsearch's."""


def main() -> int:
    """Hold the contest at each length. Return 1 if one of the project's own contenders failed, else 0."""
    options = parse()
    machine = Machine(options.device, options.threads, options.precision)
    updates = options.updates or (20 if options.device == "cuda" else 1)
    rules = Rules(options.warm_up, options.rounds, updates)
    contenders = [*options.contenders, *report.PRODUCTS]
    if options.device == "cuda":  # these builds compute only on a processor
        contenders = [name for name in contenders if peer_of(name) not in ("marian", "sockeye")]
    pip_options = shlex.split(options.pip_options)
    pythons, missing = environment.ensure_all(contenders, options.environments, pip_options)
    warn_if_busy()
    found = {}
    for length in options.lengths:
        sizes = make_sizes(options, length)
        with busy(os.cpu_count() or 1 if options.busy else 0):
            measured, failed = contest.hold(pythons, sizes, machine, rules)
        missing |= failed
        found[str(length)] = report.figures(measured, sizes)
        show(found[str(length)], sizes, machine, rules, missing)
    write(
        options.output,
        {
            "machine": asdict(machine) | hardware() | {"busy": options.busy},
            "rules": asdict(rules),
            "sizes": asdict(make_sizes(options, 0)) | {"length": options.lengths},
            "missing": missing,
            "lengths": found,
        },
    )
    return 1 if any(peer_of(name) is None for name in missing) else 0


def parse() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    parser = make_parser("benchmarks.training", __doc__)
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
        "--lengths", type=int, nargs="+", default=[30], metavar="N",
        help="positions of each sentence on both sides, its end symbol included (30)",
    )  # fmt: skip
    parser.add_argument("--contenders", nargs="+", choices=(*CONTENDERS, *ASKED_FOR), default=CONTENDERS)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of all matrix products (fp32)"
    )
    share_options(parser)
    options = parser.parse_args()
    options.output = options.output or published("training", options.busy)
    return options


def share_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both contests, training and decoding."""
    parser.add_argument("--busy", action="store_true", help="beside another process on each core")
    parser.add_argument("--output", type=Path, help="instead of benchmarks/results/...")
    parser.add_argument(
        "--environments",
        type=Path,
        default=FOLDER,
        help="where the peers' environments are made (%(default)s)",
    )
    parser.add_argument("--pip-options", default="", help="for making them, as one argument")


def published(name: str, is_busy: bool) -> Path:
    """Return the file for the figures of a contest."""
    return RESULTS / f"{name}{'_busy' if is_busy else ''}.json"


def make_sizes(options: argparse.Namespace, length: int) -> Sizes:
    """Return the sizes of all contenders at a length."""
    return Sizes(
        length,
        options.batch,
        options.hidden,
        options.embedding,
        options.maxout,
        options.vocabulary,
        options.square,
    )


def warn_if_busy() -> None:
    """Print a warning if other processes use the machine."""
    free = 0.5
    if LOAD is not None and free < LOAD:
        print(
            f"Others use this machine (load {LOAD:.1f} of {os.cpu_count()}): figures will be worse and vary",
            file=sys.stderr,
            flush=True,
        )


def show(
    found: report.Figures, sizes: Sizes, machine: Machine, rules: Rules, missing: dict[str, str]
) -> None:
    """Print the table of one length."""
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


if __name__ == "__main__":
    sys.exit(main())
