"""Compare training updates with JoeyNMT's and Sockeye's: `make bench-training`.

Usage: python -m benchmarks.training [--threads N] [--rounds N] [--lengths N [N ...]] ...

The defaults are the paper's sizes. A line for each contender and length is added to benchmarks/results/training.jsonl.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import asdict

from benchmarks import environment
from benchmarks.contest import (
    OURS,
    RESULTS,
    Contest,
    Remote,
    append,
    busy,
    machine,
    make_parser,
    report,
    say,
)
from benchmarks.sockeye_contender import Sockeye
from benchmarks.task import SIZES, Sizes

CONTENDERS = (OURS, "rnnencdec", "joeynmt", "sockeye")


def main() -> int:
    """Hold the contest at each length. Return 1 if the update of RNNsearch failed, else 0."""
    options = parse()
    pythons, missing = environment.ensure_all(
        options.contenders, options.environments, shlex.split(options.pip_options)
    )
    found, about = [], machine(options.busy)
    for length in options.lengths:
        sizes = Sizes(length, **{name: getattr(options, name) for name in SIZES})
        remotes = {
            name: (Sockeye if name == "sockeye" else Remote)(name, python, options.threads)
            for name, python in pythons.items()
            if name not in missing
        }
        contest = Contest(remotes, missing)
        try:
            contest.ask(do="train", sizes=asdict(sizes))
            rounds = []
            with busy((os.cpu_count() or 1) if options.busy else 0):
                for number in range(options.rounds + 1):
                    say(f"length {length}: round {number + 1} of {options.rounds + 1}")
                    replies = contest.ask(do="update", number=number)
                    rounds.append({name: reply["seconds"] for name, reply in replies.items()})
            # memory is taken in the first
            measured = contest.measurements(rounds[1:], **asdict(sizes))
        finally:
            contest.close()
        append(options.output or RESULTS / "training.jsonl", measured, about)
        found += measured
    report(found, missing, "length")
    return int(OURS in missing)


def parse() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    parser = make_parser("benchmarks.training", __doc__, SIZES | {"rounds": 7})
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[30], metavar="N",
        help="positions of each sentence on both sides, its end symbol included (30)",
    )  # fmt: skip
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
