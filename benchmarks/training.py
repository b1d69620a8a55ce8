"""Compare training updates with JoeyNMT's and Sockeye's: `make bench-training`.

Usage: python -m benchmarks.training [--threads N] [--rounds N] [--lengths N [N ...]] ...

The defaults are the paper's sizes. A line for each contender and length is added to benchmarks/results/training.jsonl.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from benchmarks.contest import (
    REFERENCE,
    Contender,
    Contest,
    append_measurements,
    describe_machine,
    keep_cores_busy,
    make_parser,
    print_progress,
    print_table,
)
from benchmarks.environment import prepare_environments
from benchmarks.sockeye_contender import Sockeye
from benchmarks.task import SIZES, Sizes

CONTENDERS = (REFERENCE, "rnnencdec", "joeynmt", "sockeye")


def main() -> int:
    """Hold the contest at each length. Return 1 if the update of RNNsearch failed, else 0."""
    options = parse_options()
    interpreters, missing_reasons = prepare_environments(
        options.contenders, options.environments, options.pip_options
    )
    shared_fields = describe_machine(options.busy)
    measurements = []
    for length in options.lengths:
        sizes = Sizes(length, **{name: getattr(options, name) for name in SIZES})
        contenders = {}
        for name, python in interpreters.items():
            if name not in missing_reasons:  # it may have failed at an earlier length
                contender_class = Sockeye if name == "sockeye" else Contender
                contenders[name] = contender_class(name, python, options.threads)

        contest = Contest(contenders, missing_reasons)
        try:
            length_measurements = measure_updates(contest, sizes, options)
        finally:
            contest.close()
        append_measurements(options.output, length_measurements, shared_fields)
        measurements += length_measurements
    print_table(measurements, missing_reasons, "length")
    return int(REFERENCE in missing_reasons)


def measure_updates(contest: Contest, sizes: Sizes, options: Any) -> list[dict[str, Any]]:
    """Let all contenders make an update in each round, and return their measurements."""
    contest.ask_all(do="train", sizes=asdict(sizes))
    rounds = []
    with keep_cores_busy(options.busy):
        for number in range(options.rounds + 1):
            print_progress(f"length {sizes.length}: round {number + 1} of {options.rounds + 1}")
            replies = contest.ask_all(do="update", number=number)
            rounds.append({name: reply["seconds"] for name, reply in replies.items()})

    # The first round does not count: in it, contenders allocate their memory.
    return contest.summarize_rounds(rounds[1:], **asdict(sizes))


def parse_options() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    parser = make_parser("training", __doc__, SIZES | {"rounds": 7})
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[30], metavar="N",
        help="positions of each sentence on both sides, its end symbol included (30)",
    )  # fmt: skip
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
