"""Compare beam search with JoeyNMT and Marian's int8: `make bench-decoding`.

Usage: python -m benchmarks.decoding [--source FILE] [--sentences N] [--beams N [N ...]] [--threads N] ...

The defaults are the paper's sizes. Lengths of sentences are drawn like those of newstest2014, or those of a tokenized
text. A line for each contender and beam size is added to benchmarks/results/decoding.jsonl.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from tabulate import tabulate

from benchmarks.decoding.toolkits import MarianSearch
from benchmarks.findings import RESULTS, append, busy, machine, make_parser
from benchmarks.training import environment
from benchmarks.training.contest import Failed, Remote, say
from benchmarks.training.environment import peer_of
from benchmarks.training.sizes import Machine, Sizes
from nmt.backend.products import Precision, refuse_unable
from nmt.errors import UserError
from nmt.io.text_files import read_lines

OURS = "rnnsearch"
PRECISIONS = ("bf16", "int8", "fp32-shortlist", "int8-shortlist")
CONTENDERS = (OURS, *(f"{OURS}-{precision}" for precision in PRECISIONS), "joeynmt", "marian-int8")
ON_GPU = (OURS, "joeynmt")
"""The contenders that can compute on a GPU."""


def main() -> int:
    """Measure all contenders at each beam size. Return 1 if the search in fp32 failed, else 0."""
    options = parse()
    sizes = Sizes(0, options.batch, options.hidden, options.embedding, options.maxout, options.vocabulary)
    lengths = lengths_of(options.source, options.sentences)
    names = [name for name in options.contenders if options.device == "cpu" or name in ON_GPU]
    pythons, missing = environment.ensure_all(names, options.environments, shlex.split(options.pip_options))
    about = machine(options.device, options.threads, options.busy) | {
        "sentences": len(lengths), "words": sum(lengths), "batch": sizes.batch, "hidden": sizes.hidden,
        "vocabulary": sizes.vocabulary, "text": f"lengths of {options.source}" if options.source else "lengths drawn",
    }  # fmt: skip
    remotes = dict[str, Remote]()
    try:
        for name, python in pythons.items():
            try:
                remotes[name] = started(name, python, sizes, Machine(options.device, options.threads))
            except Failed as error:
                missing[name] = str(error)
        with busy((os.cpu_count() or 1) if options.busy else 0):
            found = [
                one
                for beam in options.beams
                for one in contest(remotes, lengths, beam, sizes.batch, options.rounds, missing)
            ]
    finally:
        for remote in remotes.values():
            remote.close()
    append(options.output or RESULTS / "decoding.jsonl", found, about)
    rows = [
        [one["contender"], one["beam"], f"{one['seconds']:.3g}", f"{one['ratio'] or 0:.2f}"] for one in found
    ]
    print(tabulate(rows, ["", "beam", "seconds", "ratio"], tablefmt="pipe", disable_numparse=True))
    for name, reason in missing.items():
        print(f"Without {name}: {reason}")
    return int(OURS in missing)


def parse() -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    whole = {name: getattr(Sizes, name) for name in ("hidden", "embedding", "maxout", "vocabulary")}
    counts = {"threads": 2, "batch": 64, "sentences": 300, "rounds": 5}
    parser = make_parser("benchmarks.decoding", __doc__, counts | whole)
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
        return [
            max(1, len(line.split())) for line, _ in zip(read_lines(source), range(sentences), strict=False)
        ]
    drawn = np.random.default_rng(1).gamma(3.0, 23 / 3, sentences)
    return list(np.clip(drawn.round(), 2, 90).astype(int).tolist())


class Contender(Remote):
    """Runs one contender of this contest in a process."""

    module = "benchmarks.decoding.worker"


def started(name: str, python: str, sizes: Sizes, used: Machine) -> Remote:
    """Return a contender that is ready. Raises Failed, with the reason, where the machine does not serve it."""
    if peer_of(name) is None and (precision := name.partition("-")[2]):
        used = replace(used, precision=precision)
        try:
            refuse_unable(cast(Precision, precision.partition("-")[0]), torch.device(used.device))
        except UserError as error:
            raise Failed(str(error)) from None
    remote = (MarianSearch if peer_of(name) == "marian" else Contender)(name, python, used.threads)
    try:
        remote.ask(do="set up", sizes=asdict(sizes), machine=asdict(used))
    except Failed:
        remote.close()
        raise
    return remote


def contest(
    remotes: dict[str, Remote], lengths: list[int], beam: int, size: int, rounds: int, missing: dict[str, str]
) -> list[dict[str, Any]]:
    """Let all contenders translate batch after batch, in turns and rounds. A small batch before them does not count.

    One that fails is left out from then on; `missing` gets the reason.
    """

    def ask(name: str, **request: Any) -> dict[str, Any]:
        if name not in missing:
            try:
                return remotes[name].ask(**request)
            except Failed as error:
                missing[name] = str(error)
                say(str(error))
        return {}

    ordered = sorted(lengths)
    seconds: dict[str, list[float]] = {name: [0.0] * rounds for name in remotes}
    for name in remotes:
        ask(name, do="decode", lengths=ordered[:2], beam=beam, number=999_999)
    for turn in range(rounds):
        for number, start in enumerate(range(0, len(ordered), size)):
            for name in remotes:
                reply = ask(
                    name, do="decode", lengths=ordered[start : start + size], beam=beam, number=number
                )
                seconds[name][turn] += reply.get("seconds", 0)
        say(f"beam {beam}, round {turn + 1} of {rounds}")
    peaks = {name: ask(name, do="memory").get("peak_bytes") for name in remotes}
    medians = {name: statistics.median(times) for name, times in seconds.items() if name not in missing}
    return [
        {
            "contender": name,
            "beam": beam,
            "seconds": total,
            "ratio": total / medians[OURS] if OURS in medians else None,
            "peak_bytes": peaks[name],
            "seconds_of_rounds": seconds[name],
        }
        for name, total in medians.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
