"""Compare beam search with JoeyNMT and Marian: `make bench-decoding`.

Usage: python -m benchmarks.decoding [--mirrors FOLDER ...] [--sentences N] [--beams N [N ...]] [--threads N] ...

The defaults are the paper's sizes and the first sentences of newstest2014. If the paper's run has not fetched this
text, the workflow does it now. The figures are printed, and written to benchmarks/results/decoding.json. With another
text (--source) or drawn lengths (--drawn), --output says where they are written.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decoding import newstest
from benchmarks.decoding.toolkits import MarianSearch
from benchmarks.findings import FOLDER, hardware, make_parser, write
from benchmarks.training import environment
from benchmarks.training.__main__ import published, share_options, warn_if_busy
from benchmarks.training.contest import Failed, Remote
from benchmarks.training.environment import Unavailable, peer_of
from benchmarks.training.report import ARITHMETIC
from benchmarks.training.sizes import Machine, Sizes
from benchmarks.waiting import busy
from nmt.io.text_files import read_lines

OURS = "rnnsearch"
CONTENDERS = (
    OURS, "rnnsearch-fp32-shortlist", "rnnsearch-bf16", "rnnsearch-int8", "rnnsearch-int8-shortlist", "joeynmt",
    "marian", "marian-intel", "marian-int8",
)  # fmt: skip
"""A dash precedes the precision. In `marian-intel` and `marian-int8`, MKL believes that the processor is Intel's."""
ON_GPU = (OURS, "joeynmt")
"""The contenders that can compute on a GPU."""


def main() -> int:
    """Measure all contenders at each beam size. Return 1 if there is no text or one of our own failed, else 0."""
    options = parse()
    sizes = Sizes(0, options.batch, options.hidden, options.embedding, options.maxout, options.vocabulary)
    machine = Machine(options.device, options.threads)
    try:
        source = None if options.drawn else options.source or newstest.ensure(options.text, options.mirrors)
    except Unavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    lengths, text = lengths_of(source, options.sentences)
    names = [name for name in options.contenders if options.device == "cpu" or name in ON_GPU]
    pip_options = shlex.split(options.pip_options)
    pythons, missing = environment.ensure_all(names, options.environments, pip_options)
    warn_if_busy()
    remotes = dict[str, Remote]()
    try:
        for name, python in pythons.items():
            kind = MarianSearch if peer_of(name) == "marian" else Contender
            try:
                remotes[name] = kind(name, python, machine.threads)
                precision = name.partition("-")[2] if peer_of(name) is None else ""
                own = replace(machine, precision=precision or machine.precision)
                remotes[name].ask(do="set up", sizes=asdict(sizes), machine=asdict(own))
            except Failed as error:
                missing[name] = str(error)
        contenders = {name: remote for name, remote in remotes.items() if name not in missing}
        with busy(os.cpu_count() or 1 if options.busy else 0):
            beams = {
                str(beam): contest(contenders, lengths, beam, sizes, options.rounds, missing)
                for beam in options.beams
            }
    finally:
        for remote in remotes.values():
            remote.close()
    found: dict[str, Any] = {
        "machine": asdict(machine) | hardware() | {"busy": options.busy},
        "sizes": asdict(sizes) | {"rounds": options.rounds},
    }
    found |= {"text": text, "sentences": len(lengths), "words": sum(lengths), "missing": missing}
    write(options.output, found | {"beams": beams})
    print(json.dumps(beams, indent=2))
    return 1 if any(peer_of(name) is None for name in missing) else 0


class Contender(Remote):
    """Runs one contender of this contest in a process."""

    module = "benchmarks.decoding.worker"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the options, whose defaults are the paper's sizes."""
    parser = make_parser("benchmarks.decoding", __doc__)
    whole = {"threads": 2, "batch": 64, "hidden": Sizes.hidden, "embedding": Sizes.embedding}
    whole |= {"maxout": Sizes.maxout, "vocabulary": Sizes.vocabulary, "sentences": 300, "rounds": 5}
    for name, value in whole.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"({value})")
    texts = parser.add_mutually_exclusive_group()
    texts.add_argument(
        "--source", type=Path, metavar="FILE", help="tokens; only the lengths of the sentences are used"
    )
    texts.add_argument("--drawn", action="store_true", help="draw lengths like those of newstest2014 instead")
    parser.add_argument(
        "--mirrors",
        type=Path,
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="that have newstest2014's archive",
    )
    parser.add_argument(
        "--text", type=Path, default=FOLDER / ".newstest2014", help="folder for newstest2014 (%(default)s)"
    )
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5, 10], metavar="N", help="(1 5 10)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    share_options(parser)
    options = parser.parse_args(arguments)
    place = published("decoding", options.busy)
    if options.output is None and (options.source or options.drawn):
        parser.error(f"--source and --drawn need --output: {place} has the figures on newstest2014")
    options.output = options.output or place
    return options


def lengths_of(source: Path | None, sentences: int) -> tuple[list[int], str]:
    """Return the lengths of the first sentences in words, and a description of the text.

    Without a text, lengths are drawn like those of newstest2014, whose English sentences have about 23 words in the
    mean and a long tail. They follow a gamma distribution of shape 3.
    """
    if source is not None:
        lines = (line for _, line in zip(range(sentences), read_lines(source), strict=False))
        text = f"lengths of {source.parent.name}/{source.name}, words drawn"
        return [max(1, len(line.split())) for line in lines], text
    drawn = np.random.default_rng(1).gamma(3.0, 23 / 3, sentences)
    return np.clip(drawn.round(), 2, 90).astype(int).tolist(), "generated, lengths like newstest2014's"


def contest(
    remotes: dict[str, Remote],
    lengths: list[int],
    beam: int,
    sizes: Sizes,
    rounds: int,
    missing: dict[str, str],
) -> dict[str, Any]:
    """Let all contenders translate batch after batch, in turns and rounds. A small batch before them does not count.

    One that fails is left out from then on; `missing` gets the reason.
    """

    def ask(name: str, **request: Any) -> dict[str, Any]:
        if name not in missing:
            try:
                return remotes[name].ask(**request)
            except Failed as error:
                missing[name] = str(error)
                print(error, file=sys.stderr)
        return {}

    ordered = sorted(lengths)
    seconds: dict[str, list[float]] = {name: [0.0] * rounds for name in remotes}
    for name in remotes:
        ask(name, do="decode", lengths=ordered[:2], beam=beam, number=999_999)
    for turn in range(rounds):
        for number, start in enumerate(range(0, len(ordered), sizes.batch)):
            batch = ordered[start : start + sizes.batch]
            for name in remotes:
                reply = ask(name, do="decode", lengths=batch, beam=beam, number=number)
                seconds[name][turn] += reply.get("seconds", 0)
        shown = ", ".join(
            f"{name} {times[turn]:.2f} s" for name, times in seconds.items() if name not in missing
        )
        print(f"beam {beam}, round {turn + 1} of {rounds}: {shown}", file=sys.stderr, flush=True)
    peaks = {name: ask(name, do="memory").get("peak_bytes") for name in remotes}
    medians = {name: statistics.median(times) for name, times in seconds.items() if name not in missing}
    return {
        name: {
            "seconds": total,
            "seconds_of_rounds": seconds[name],
            "sentences_per_second": len(lengths) / total,
            "source_words_per_second": sum(lengths) / total,
            "peak_bytes": peaks[name],
            "ratio": total / medians[OURS] if OURS in medians else None,
            "multiply_adds_of_a_word": multiply_adds(name, sizes),
        }
        for name, total in medians.items()
    }


def multiply_adds(name: str, sizes: Sizes) -> int:
    """Return the multiply-adds of one target word of a hypothesis, except those that depend on the source's length."""
    counted = ARITHMETIC[name.partition("-")[0]](sizes)
    return counted.recurrence + counted.readout + counted.output


if __name__ == "__main__":
    sys.exit(main())
