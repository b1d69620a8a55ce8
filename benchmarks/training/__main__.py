"""Compare training updates with peers and the machine's limit: `make bench-training`.

Usage: python -m benchmarks.training [--device cpu|cuda] [--threads N] [--rounds N] [--lengths N [N ...]] ...

The defaults are the paper's sizes. A table is printed for each length, and a line for each contender is added to
benchmarks/results/training.jsonl.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from benchmarks.findings import RESULTS, append, busy, machine, make_parser
from benchmarks.training import contest, environment, report
from benchmarks.training.contest import SMALL_PAGES, Rules
from benchmarks.training.environment import peer_of
from benchmarks.training.sizes import Machine, Sizes

CONTENDERS = ("rnnsearch", "rnnencdec", "joeynmt", "sockeye")
ASKED_FOR = ("grconv", SMALL_PAGES)
"""These run only if they are asked for. An update of grConv has four times the arithmetic of RNNsearch's."""


def main() -> int:
    """Hold the contest at each length. Return 1 if one of the project's own contenders failed, else 0."""
    options = parse()
    used = Machine(options.device, options.threads, options.precision)
    rules = Rules(1, options.rounds, options.updates or (20 if options.device == "cuda" else 1))
    contenders = [*options.contenders, "matrix"]
    if options.device == "cuda":  # Sockeye's build computes only on a processor
        contenders.remove("sockeye")
    pythons, missing = environment.ensure_all(
        contenders, options.environments, shlex.split(options.pip_options)
    )
    about = machine(options.device, options.threads, options.busy) | {"precision": options.precision}
    for length in options.lengths:
        sizes = Sizes(
            length, options.batch, options.hidden, options.embedding, options.maxout, options.vocabulary, options.square
        )  # fmt: skip
        with busy((os.cpu_count() or 1) if options.busy else 0):
            measured, failed = contest.hold(pythons, sizes, used, rules)
        missing |= failed
        found = report.measurements(measured, sizes)
        shared = about | {name: getattr(sizes, name) for name in ("batch", "hidden", "vocabulary")}
        append(options.output or RESULTS / "training.jsonl", found, shared)
        print(
            f"\n{length} positions a sentence, batch {sizes.batch}, {options.device}, {options.precision}\n"
        )
        print(report.table(found, sizes))
    for name, reason in missing.items():
        print(f"Without {name}: {reason}")
    return 1 if any(peer_of(name) is None for name in missing) else 0


def parse() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    whole = {
        name: getattr(Sizes, name)
        for name in ("batch", "hidden", "embedding", "maxout", "vocabulary", "square")
    }
    parser = make_parser("benchmarks.training", __doc__, {"threads": 2, "rounds": 7, "updates": 0} | whole)
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[30], metavar="N",
        help="positions of each sentence on both sides, its end symbol included (30)",
    )  # fmt: skip
    parser.add_argument(
        "--contenders", nargs="+", choices=(*CONTENDERS, *ASKED_FOR), default=list(CONTENDERS)
    )
    parser.add_argument(
        "--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of all matrix products (fp32)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
