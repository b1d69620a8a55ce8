"""The measurements of a contest of updates, and their table."""

from __future__ import annotations

import statistics
from typing import Any

from tabulate import tabulate

from benchmarks.training.arithmetic import OPERATIONS, gflop
from benchmarks.training.contest import Measured
from benchmarks.training.environment import PEERS
from benchmarks.training.sizes import Sizes

LABELS = {
    "rnnsearch": "RNNsearch",
    "rnnsearch-small-pages": "RNNsearch, small pages",
    "rnnencdec": "RNNencdec",
    "grconv": "grConv",
    **{name: peer.label for name, peer in PEERS.items()},
}


def measurements(measured: dict[str, Measured], sizes: Sizes) -> list[dict[str, Any]]:
    """Return a record per contender: medians of the rounds, the ratio to RNNsearch, the share of the machine's rate.

    What needs a contender that was not measured is None.
    """
    seconds = {name: statistics.median(one.seconds) for name, one in measured.items()}
    square = OPERATIONS * sizes.square**3 / 1e9
    rate = square / seconds["matrix"] if "matrix" in seconds else None
    found = []
    for name, one in measured.items():
        work = square if name == "matrix" else gflop(name, sizes)
        speed = None if work is None else work / seconds[name]
        found.append(
            {
                "contender": name,
                "length": sizes.length,
                "seconds": seconds[name],
                "ratio": seconds[name] / seconds["rnnsearch"] if "rnnsearch" in seconds else None,
                "gflop_per_second": speed,
                "share_of_matrix_rate": speed / rate if speed and rate else None,
                "processors": statistics.median(one.processors),
                "parameters": one.set_up["parameters"],
                "peak_bytes": one.memory["peak_bytes"],
                "peak_gpu_bytes": one.memory["peak_gpu_bytes"],
                "seconds_of_rounds": one.seconds,
            }
        )
    return found


def table(found: list[dict[str, Any]], sizes: Sizes) -> str:
    """Return a Markdown table with a row per contender."""

    def cell(value: float | None, form: str, unit: float = 1) -> str:
        return "-" if value is None else format(value / unit, form)

    rows = [
        [
            LABELS.get(one["contender"], one["contender"]),
            cell(one["seconds"], ".3g"),
            cell(one["ratio"], ".2f"),
            cell(sizes.words / one["seconds"], ",.0f") if one["contender"] in LABELS else "-",
            cell(one["gflop_per_second"], ".1f"),
            cell(one["share_of_matrix_rate"], ".0%"),
            cell(one["processors"], ".2f"),
            cell(one["peak_gpu_bytes"] or one["peak_bytes"], ".2f", 1e9),
        ]
        for one in found
    ]
    headers = [
        "",
        "seconds",
        "ratio",
        "target words/s",
        "GFLOP/s",
        "of the matrix rate",
        "processors",
        "peak GB",
    ]
    text: str = tabulate(rows, headers, tablefmt="pipe", disable_numparse=True)
    return text
