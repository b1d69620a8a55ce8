"""Measure beam search against JoeyNMT's: `make bench-decoding`.

Usage: python -m benchmarks.decoding [--mirrors FOLDER ...] [--sentences N] [--beams N [N ...]] [--threads N] ...

The defaults are the paper's sizes and the first sentences of newstest2014, which the workflow fetches where the
paper's run has not done so. Prints a table and writes benchmarks/results/decoding.json; figures on another text
(--source) or on drawn lengths (--drawn) go where --output says.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decoding import newstest
from benchmarks.training import environment
from benchmarks.training.__main__ import FOLDER, busy, hardware, write
from benchmarks.training.contest import Remote
from benchmarks.training.sizes import Machine, Sizes
from nmt.io.text_files import read_lines

OURS, PEER = "rnnsearch", "joeynmt"
PUBLISHED = FOLDER / "results" / "decoding.json"


def main() -> int:
    """Hold the contest at each beam; 1 where there is no text to hold it on."""
    options = parse()
    sizes = Sizes(0, options.batch, options.hidden, options.embedding, options.maxout, options.vocabulary)
    machine = Machine(options.device, options.threads)
    try:
        source = None if options.drawn else options.source or newstest.ensure(options.text, options.mirrors)
    except newstest.Unavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    lengths, text = lengths_of(source, options.sentences)
    pythons, missing = {OURS: sys.executable}, {}
    try:
        pythons[PEER] = str(environment.ensure(options.environment, shlex.split(options.pip_options)))
    except environment.Unavailable as error:
        missing[PEER] = str(error)
        print(f"Going on without JoeyNMT: {error}", file=sys.stderr)
    load, remotes = busy(), dict[str, Remote]()
    try:
        for name, python in pythons.items():
            remotes[name] = Contender(name, python, machine.threads)
            remotes[name].ask(do="set up", sizes=asdict(sizes), machine=asdict(machine))
        beams = {str(beam): contest(remotes, lengths, beam, options.batch) for beam in options.beams}
    finally:
        for remote in remotes.values():
            remote.close()
    found: dict[str, Any] = {
        "machine": asdict(machine) | hardware() | {"load_before": load},
        "sizes": asdict(sizes),
    }
    found |= {"text": text, "sentences": len(lengths), "words": sum(lengths), "missing": missing}
    write(options.output, found | {"beams": beams})
    print(json.dumps(beams, indent=2))
    return 0


class Contender(Remote):
    """A contender of this contest in its process."""

    module = "benchmarks.decoding.worker"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options; the defaults are the paper's sizes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decoding", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    whole = {"threads": 2, "batch": 64, "hidden": Sizes.hidden, "embedding": Sizes.embedding}
    whole |= {"maxout": Sizes.maxout, "vocabulary": Sizes.vocabulary, "sentences": 300}
    for name, value in whole.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"({value})")
    texts = parser.add_mutually_exclusive_group()
    texts.add_argument("--source", type=Path, metavar="FILE", help="tokens, whose sentences' lengths count")
    texts.add_argument("--drawn", action="store_true", help="lengths drawn like newstest2014's instead")
    parser.add_argument(
        "--mirrors", type=Path, nargs="+", default=[], metavar="FOLDER", help="with newstest2014's archive"
    )
    parser.add_argument(
        "--text", type=Path, default=FOLDER / ".newstest2014", help="where newstest2014 is made (%(default)s)"
    )
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5, 10], metavar="N", help="(1 5 10)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--output", type=Path, help=f"({PUBLISHED})")
    parser.add_argument("--environment", type=Path, default=FOLDER / ".joeynmt")
    parser.add_argument("--pip-options", default="", help="for making JoeyNMT's environment, as one argument")
    options = parser.parse_args(arguments)
    if options.output is None and (options.source or options.drawn):
        parser.error(f"--source and --drawn need --output: {PUBLISHED} has the figures on newstest2014")
    options.output = options.output or PUBLISHED
    return options


def lengths_of(source: Path | None, sentences: int) -> tuple[list[int], str]:
    """How many words the first sentences have, and where from; drawn like newstest2014's for no text.

    Its English has 22 words per sentence in the mean and a long tail: a gamma distribution of shape 3.
    """
    if source is not None:
        lines = (line for _, line in zip(range(sentences), read_lines(source), strict=False))
        text = f"lengths of {source.parent.name}/{source.name}, words drawn"
        return [max(1, len(line.split())) for line in lines], text
    drawn = np.random.default_rng(1).gamma(3.0, 23 / 3, sentences)
    return np.clip(drawn.round(), 2, 90).astype(int).tolist(), "generated, lengths like newstest2014's"


def contest(remotes: dict[str, Remote], lengths: list[int], beam: int, size: int) -> dict[str, Any]:
    """Turns of all contenders at batch after batch; a small batch before them does not count."""
    ordered, seconds = sorted(lengths), dict.fromkeys(remotes, 0.0)
    for remote in remotes.values():
        remote.ask(do="decode", lengths=ordered[:2], beam=beam, number=-1 + 10**6)
    for number, start in enumerate(range(0, len(ordered), size)):
        for name, remote in remotes.items():
            reply = remote.ask(do="decode", lengths=ordered[start : start + size], beam=beam, number=number)
            seconds[name] += reply["seconds"]
            print(f"beam {beam}, batch {number}: {name} {reply}", file=sys.stderr, flush=True)
    found: dict[str, Any] = {
        name: {
            "seconds": total,
            "sentences_per_second": len(lengths) / total,
            "source_words_per_second": sum(lengths) / total,
        }
        for name, total in seconds.items()
    }
    if PEER in seconds:
        found["ratio_joeynmt"] = seconds[PEER] / seconds[OURS]
    return found


if __name__ == "__main__":
    sys.exit(main())
