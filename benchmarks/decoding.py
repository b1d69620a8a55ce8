"""Compare beam search with JoeyNMT's and Marian's in int8: `make bench-decoding`.

Usage: python -m benchmarks.decoding [--source FILE] [--sentences N] [--beams N [N ...]] [--threads N] ...

The defaults are the paper's sizes. Lengths of sentences are drawn like those of newstest2014, or those of a tokenized
text. A model with random weights does not end its sentences sensibly. So the end symbol is forbidden, and a batch is
decoded for one step more than its longest source has words. A line for each contender and beam size is added to
benchmarks/results/decoding.jsonl.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

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
from benchmarks.environment import peer_of
from benchmarks.marian_contender import Marian
from benchmarks.task import SIZES, Sizes
from nmt.backend.matmul import processor_supports
from nmt.io.text_files import read_lines

PRECISIONS = ("bf16", "int8", "fp32-shortlist", "int8-shortlist")
CONTENDERS = (OURS, *(f"{OURS}-{precision}" for precision in PRECISIONS), "joeynmt", "marian-int8")


def main() -> int:
    """Measure all contenders at each beam size. Return 1 if the search in fp32 failed, else 0."""
    options = parse()
    sizes = Sizes(**{name: getattr(options, name) for name in SIZES})
    lengths = sorted(lengths_of(options.source, options.sentences))
    unable = {
        name: "this processor has no instructions for it"
        for name in options.contenders
        if peer_of(name) is None and not processor_supports(f"{name}-fp32".split("-")[1])  # type: ignore[arg-type]
    }
    able = [name for name in options.contenders if name not in unable]
    pythons, missing = environment.ensure_all(able, options.environments, shlex.split(options.pip_options))
    remotes = {
        name: (Marian if peer_of(name) == "marian" else Remote)(name, python, options.threads)
        for name, python in pythons.items()
    }
    about = machine(options.busy) | asdict(sizes)
    about |= {"text": str(options.source or "drawn"), "sentences": len(lengths), "words": sum(lengths)}
    contest = Contest(remotes, missing | unable)
    try:
        contest.ask(do="search", sizes=asdict(sizes))
        with busy((os.cpu_count() or 1) if options.busy else 0):
            found = [one for beam in options.beams for one in hold(contest, lengths, beam, options)]
    finally:
        contest.close()
    append(options.output or RESULTS / "decoding.jsonl", found, about)
    report(found, contest.missing, "beam")
    return int(OURS in contest.missing)


def parse() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    whole = SIZES | {"batch": 64, "sentences": 300, "rounds": 5}
    parser = make_parser("benchmarks.decoding", __doc__, whole)
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help="tokens; only the lengths of the sentences are used"
    )
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5, 10], metavar="N", help="(1 5 10)")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    return parser.parse_args()


def lengths_of(source: Path | None, sentences: int) -> list[int]:
    """Return the lengths of the first sentences in words.

    Without a text, lengths are drawn like those of newstest2014, whose English sentences have about 23 words in the
    mean and a long tail. They follow a gamma distribution of shape 3.
    """
    if source is not None:
        lines = zip(read_lines(source), range(sentences), strict=False)
        return [max(1, len(line.split())) for line, _ in lines]
    drawn = np.random.default_rng(1).gamma(3.0, 23 / 3, sentences)
    return list(np.clip(drawn.round(), 2, 90).astype(int).tolist())


def hold(contest: Contest, lengths: list[int], beam: int, options: Any) -> list[dict[str, Any]]:
    """Let all contenders translate batch after batch, in turns and rounds. A small batch before them does not count."""
    contest.ask(do="decode", lengths=lengths[:2], beam=beam, number=999_999)
    rounds = []
    for turn in range(options.rounds):
        seconds: dict[str, float] = {}
        for number, start in enumerate(range(0, len(lengths), options.batch)):
            some = lengths[start : start + options.batch]
            for name, reply in contest.ask(do="decode", lengths=some, beam=beam, number=number).items():
                seconds[name] = seconds.get(name, 0) + reply["seconds"]
        rounds.append(seconds)
        say(f"beam {beam}, round {turn + 1} of {options.rounds}")
    return contest.measurements(rounds, beam=beam)


if __name__ == "__main__":
    sys.exit(main())
