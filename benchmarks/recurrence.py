"""How much the hand-written recurrence gains over the plain loop under autograd, at one size, in one run.

Usage: python -m benchmarks.recurrence [--hidden N] [--batch N] [--length N] [--rounds N] [--threads N]

Both do the same arithmetic on the same weights; they take turns, and the medians are compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import plain_loop
from benchmarks.findings import publish, whole_numbers
from nmt.model.families.rnnsearch import RNNsearch
from nmt.model.initialization import initialize
from nmt.settings.families import GatedArchitecture

OUTPUT = Path(__file__).parent / "results" / "recurrence.json"


def main() -> None:
    """Measure, print and write `benchmarks/results/recurrence.json`."""
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    model = make_model(arguments.hidden)
    source, target = (
        torch.randn(arguments.length, arguments.batch, model.architecture.embedding_size) for _ in range(2)
    )
    mask = torch.ones(arguments.length, arguments.batch)
    runs = {
        "fast": lambda: fast(model, source, mask, target),
        "plain": lambda: plain(model, source, target),
    }
    agree = (runs["fast"]() - runs["plain"]()).abs().item()
    medians = measure(model, runs, arguments.rounds)
    found = {
        "threads": arguments.threads,
        "hidden": arguments.hidden,
        "batch": arguments.batch,
        "length": arguments.length,
        "rounds": arguments.rounds,
        "seconds_fast": medians["fast"],
        "seconds_plain": medians["plain"],
        "ratio_plain": medians["plain"] / medians["fast"],
        "difference_of_results": agree,
    }
    publish(found, OUTPUT)


def parse() -> argparse.Namespace:
    """Sizes; the defaults are the paper's."""
    return whole_numbers(__doc__, hidden=1000, batch=80, length=30, rounds=5, threads=2)


def make_model(hidden: int) -> RNNsearch:
    """An RNNsearch whose vocabularies are tiny: only its recurrences are measured."""
    architecture = GatedArchitecture(
        hidden_units=hidden,
        embedding_size=round(0.62 * hidden),
        maxout_units=hidden // 2,
        alignment_units=hidden,
        step_order="groundhog",
        output_layer="direct",
        biases="groundhog",
        encdec_start="last",
        recurrent_init="orthogonal",
        unused_ids=0,
        source_end=True,
        alignment_init_std=0.001,
        init_std=0.01,
    )
    model = RNNsearch(architecture, 4, 4)
    initialize(model, seed=1)
    return model


def measure(model: RNNsearch, runs: dict[str, Callable[[], Tensor]], rounds: int) -> dict[str, float]:
    """Median seconds of each run; they take turns, and a first turn, which pays for memory, does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            seconds[name].append(timed(model, run))
    return {name: statistics.median(values[1:]) for name, values in seconds.items()}


def timed(model: RNNsearch, run: Callable[[], Tensor]) -> float:
    """Seconds of one pass forward and back."""
    model.zero_grad()
    begin = time.perf_counter()
    run().backward()  # type: ignore[no-untyped-call]
    return time.perf_counter() - begin


def fast(model: RNNsearch, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    """Encoder and decoder as training runs them."""
    encoded = model.decoder.prepare(model.encoder(source, mask))
    states, contexts, _ = model.decoder.scan(encoded, target, model.decoder.start(encoded))
    return states.sum() + contexts.sum()


def plain(model: RNNsearch, source: Tensor, target: Tensor) -> Tensor:
    """The same, step by step under autograd, every product inside the loop."""
    total = source.new_zeros(())
    for step in plain_loop.steps(dict(model.named_parameters()), source, target):
        total = total + step.before.sum() + step.context.sum()
    return total + step.after.sum()


if __name__ == "__main__":
    main()
