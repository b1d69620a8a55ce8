"""One deep LSTM as training runs it (torch's: oneDNN on a processor) beside two others, at one size, in one run.

Usage: python -m benchmarks.lstm [--hidden N] [--layers N] [--batch N] [--length N] [--rounds N] [--threads N]

hand-written: a scan with a hand-written backward pass, as the gated unit has one. cells: the plain loop over cells
under autograd, which peepholes and bf16 take. All do the same arithmetic on the same weights; they take turns, and the
medians of the processor's time are compared, which other work on the machine hardly changes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.findings import publish, whole_numbers
from benchmarks.hand_written_lstm import HandWrittenScan
from nmt.model.families.lstm import Layer, Layers
from nmt.model.precision import affine
from nmt.settings.families import LSTMArchitecture

OUTPUT = Path(__file__).parent / "results" / "lstm.json"


def main() -> None:
    """Measure, print and write `benchmarks/results/lstm.json`."""
    # the paper's sizes, a layer for all four
    sizes = whole_numbers(__doc__, hidden=1000, layers=1, batch=128, length=30, rounds=5, threads=1)
    torch.set_num_threads(sizes.threads)
    torch.manual_seed(1)
    layers = Layers(
        LSTMArchitecture(
            hidden_units=sizes.hidden,
            embedding_size=sizes.hidden,
            layers=sizes.layers,
            source_end=False,
            unused_ids=0,
        )
    )
    for weight in layers.parameters():
        torch.nn.init.uniform_(weight, -0.08, 0.08)
    x = torch.randn(sizes.length, sizes.batch, sizes.hidden)
    runs = {"library": by_library, "hand_written": by_hand, "cells": by_cells}
    results = {name: run(layers, x).detach() for name, run in runs.items()}
    medians = measure(layers, x, runs, sizes.rounds)
    publish(
        {
            **vars(sizes),
            **{f"seconds_{name}": seconds for name, seconds in medians.items()},
            "ratio_hand_written": medians["hand_written"] / medians["library"],
            "ratio_cells": medians["cells"] / medians["library"],
            "difference_of_results": max(
                (result - results["library"]).abs().max().item() for result in results.values()
            ),
        },
        OUTPUT,
    )


def by_library(layers: Layers, x: Tensor) -> Tensor:
    """h of the top layer, (T, B, N), as training computes it."""
    start = x.new_zeros(x.shape[1], x.shape[2])
    top, _ = layers.scan(x, [(start, start)] * len(layers), x.new_ones(x.shape[:2]))
    return top


def by_hand(layers: Layers, x: Tensor) -> Tensor:
    """The same by hand-written scans."""
    for layer in layers:
        x = HandWrittenScan.apply(projected(layer, x), layer.U)[1:]  # type: ignore[no-untyped-call]
    return x


def by_cells(layers: Layers, x: Tensor) -> Tensor:
    """The same cell by cell under autograd."""
    for layer in layers:
        h = c = x.new_zeros(x.shape[1], x.shape[2])
        states = []
        for step in projected(layer, x):
            h, c = layer.cell(step + h @ layer.U, c)
            states.append(h)
        x = torch.stack(states)
    return x


def projected(layer: Layer, x: Tensor) -> Tensor:
    """W x + b of all steps at once, (T, B, 4N)."""
    return affine(x.flatten(0, 1), layer.W, layer.b).view(*x.shape[:2], -1)


def measure(
    layers: Layers, x: Tensor, runs: Mapping[str, Callable[[Layers, Tensor], Tensor]], rounds: int
) -> dict[str, float]:
    """Median processor seconds forward and back of each; a first turn, which pays for memory, does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            layers.zero_grad()
            begin = time.process_time()
            run(layers, x).sum().backward()  # type: ignore[no-untyped-call]
            seconds[name].append(time.process_time() - begin)
    return {name: statistics.median(values[1:]) for name, values in seconds.items()}


if __name__ == "__main__":
    main()
