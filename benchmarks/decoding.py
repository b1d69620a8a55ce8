"""Compare beam search with JoeyNMT's and Marian's in int8: `make bench-decoding`.

Usage: python -m benchmarks.decoding [--source FILE] [--sentences N] [--beams N [N ...]] [--threads N] ...

The defaults are the paper's sizes. Lengths of sentences are drawn like those of newstest2014, or those of a tokenized
text. A model with random weights does not end its sentences sensibly. So the end symbol is forbidden, and a batch is
decoded for one step more than its longest source has words. A line for each contender and beam size is added to
benchmarks/results/decoding.jsonl.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

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
from benchmarks.environment import find_peer, prepare_environments
from benchmarks.marian_contender import Marian
from benchmarks.project import PRECISIONS
from benchmarks.task import SIZES, Sizes
from nmt.backend.matmul import processor_supports
from nmt.io.text_files import read_lines

CONTENDERS = (*PRECISIONS, "joeynmt", "marian-int8")


def main() -> int:
    """Measure all contenders at each beam size. Return 1 if the search in fp32 failed, else 0."""
    options = parse_options()
    sizes = Sizes(**{name: getattr(options, name) for name in SIZES})
    lengths = sorted(choose_lengths(options.source, options.sentences))

    # 1. leave out what this machine cannot run
    missing_reasons = {}
    for name in options.contenders:
        if name in PRECISIONS and not processor_supports(PRECISIONS[name]):
            missing_reasons[name] = "this processor has no instructions for it"
    supported_contenders = [name for name in options.contenders if name not in missing_reasons]
    interpreters, missing_peers = prepare_environments(
        supported_contenders, options.environments, options.pip_options
    )

    # 2. start the contenders
    shared_fields = describe_machine(options.busy) | asdict(sizes)
    shared_fields |= {
        "text": str(options.source or "drawn"),
        "sentences": len(lengths),
        "words": sum(lengths),
    }
    contenders = {}
    for name, python in interpreters.items():
        contender_class = Marian if find_peer(name) == "marian" else Contender
        contenders[name] = contender_class(name, python, options.threads)
    contest = Contest(contenders, missing_reasons | missing_peers)

    # 3. measure
    measurements = []
    try:
        contest.ask_all(do="search", sizes=asdict(sizes))
        with keep_cores_busy(options.busy):
            for beam in options.beams:
                measurements += measure_search(contest, lengths, beam, options)
    finally:
        contest.close()
    append_measurements(options.output, measurements, shared_fields)
    print_table(measurements, contest.missing_reasons, "beam")
    return int(REFERENCE in contest.missing_reasons)


def parse_options() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    parser = make_parser("decoding", __doc__, SIZES | {"batch": 64, "sentences": 300, "rounds": 5})
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help="tokens; only the lengths of the sentences are used"
    )
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5, 10], metavar="N", help="(1 5 10)")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    return parser.parse_args()


def choose_lengths(source: Path | None, sentence_count: int) -> list[int]:
    """Return the lengths in words of the first `sentence_count` sentences of a text.

    Without a text, lengths are drawn like those of newstest2014, whose English sentences have about 23 words in the
    mean and a long tail. They follow a gamma distribution of shape 3.
    """
    if source is not None:
        lines = itertools.islice(read_lines(source), sentence_count)
        return [max(1, len(line.split())) for line in lines]
    lengths = np.random.default_rng(1).gamma(3.0, 23 / 3, sentence_count)
    return list(np.clip(lengths.round(), 2, 90).astype(int).tolist())


def measure_search(contest: Contest, lengths: list[int], beam: int, options: Any) -> list[dict[str, Any]]:
    """Let all contenders translate batch after batch, in turns and rounds. Return their measurements."""
    # a small batch whose time does not count, since a first batch also prepares what later batches use again
    contest.ask_all(do="decode", lengths=lengths[:2], beam=beam, number=999_999)

    rounds = []
    for round_number in range(1, options.rounds + 1):
        seconds_by_contender = dict.fromkeys(contest.contenders, 0.0)
        for batch_number, start in enumerate(range(0, len(lengths), options.batch)):
            batch_lengths = lengths[start : start + options.batch]
            replies = contest.ask_all(do="decode", lengths=batch_lengths, beam=beam, number=batch_number)
            for name, reply in replies.items():
                seconds_by_contender[name] += reply["seconds"]
        rounds.append(seconds_by_contender)
        print_progress(f"beam {beam}, round {round_number} of {options.rounds}")
    return contest.summarize_rounds(rounds, beam=beam)


if __name__ == "__main__":
    sys.exit(main())
