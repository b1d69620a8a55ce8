"""Figures and table of the measured updates."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tabulate import tabulate

from benchmarks.training import arithmetic
from benchmarks.training.arithmetic import OPERATIONS, Arithmetic
from benchmarks.training.contest import Measured
from benchmarks.training.environment import PEERS
from benchmarks.training.sizes import Sizes

ARITHMETIC: dict[str, Callable[[Sizes], Arithmetic]] = {
    "rnnsearch": arithmetic.rnnsearch,
    "rnnsearch-small-pages": arithmetic.rnnsearch,
    "rnnencdec": arithmetic.rnnencdec,
    "grconv": arithmetic.grconv,
    "joeynmt": arithmetic.joeynmt,
    "sockeye": arithmetic.sockeye,
    "marian": arithmetic.marian,
    "marian-intel": arithmetic.marian,
}
LABELS = {
    "rnnsearch": "RNNsearch",
    "rnnsearch-small-pages": "RNNsearch, small pages",
    "rnnencdec": "RNNencdec",
    "grconv": "grConv",
    "joeynmt": PEERS["joeynmt"].label,
    "sockeye": PEERS["sockeye"].label,
    "marian": PEERS["marian"].label,
    "marian-intel": f"{PEERS['marian'].label}, Intel kernels",
}
PRODUCTS = {
    "matrix": "a large square product",
    "matrix-output": "the output layer's product",
    "matrix-step": "a step's product",
}
Figures = dict[str, Any]
ABSENT = "-"


def figures(measured: dict[str, Measured], sizes: Sizes) -> Figures:
    """Return all figures of one size, ready for JSON. Figures that need a missing contender are None."""
    products = {name: product(measured[name]) for name in PRODUCTS if name in measured}
    rate = products["matrix"]["gflop_per_second"] if "matrix" in products else None
    contenders = {
        name: contender(measured[name], ARITHMETIC[name](sizes), sizes, rate)
        for name in ARITHMETIC
        if name in measured
    }
    other = base(contenders)
    return {
        "positions_per_sentence": sizes.length,
        "words_per_sentence": sizes.length - 1,
        "ratios": {
            name: {
                label: own[key] / contenders[other][key] if other in contenders else None
                for label, key in RATIOS
            }
            for name, own in contenders.items()
        },
        "contenders": contenders,
        "products": products,
    }


def product(measured: Measured) -> Figures:
    """Return the rate of one matrix product in GFLOP/s, and its seconds in each round."""
    seconds = statistics.median(measured.seconds)
    operations = OPERATIONS * measured.set_up["multiply_adds"]
    return {"gflop_per_second": operations / seconds / 1e9, "seconds_of_rounds": measured.seconds}


def contender(measured: Measured, counted: Arithmetic, sizes: Sizes, rate: float | None) -> Figures:
    """Return the figures of one contender. Words are counted without end symbols."""
    seconds, gflop = statistics.median(measured.seconds), counted.gflop(sizes)
    return {
        "seconds": seconds,
        "seconds_of_rounds": measured.seconds,
        "processors": statistics.median(measured.processors),
        "updates_per_second": 1 / seconds,
        "source_words_per_second": sizes.words / seconds,
        "target_words_per_second": sizes.words / seconds,
        "parameters": measured.set_up["parameters"],
        "multiply_adds": asdict(counted) | {"position": counted.position, "update": counted.update(sizes)},
        "gflop": gflop,
        "gflop_per_second": gflop / seconds,
        "seconds_per_gflop": seconds / gflop,
        "share_of_matrix_rate": None if rate is None else gflop / seconds / rate,
        "resident_bytes_before_first_update": measured.set_up["resident_bytes"],
        "peak_bytes": measured.memory["peak_bytes"],
        "peak_gpu_bytes": measured.memory["peak_gpu_bytes"],
        "nll_of_updates": measured.nlls,
    }


def base(contenders: dict[str, Figures]) -> str:
    """Return the contender to which ratios refer: the first of `BASES` that was measured."""
    return next((name for name in BASES if name in contenders), BASES[0])


ROWS: tuple[tuple[str, Callable[[Figures], str]], ...] = (
    ("seconds an update", lambda own: f"{own['seconds']:.3g}"),
    ("updates/s", lambda own: f"{own['updates_per_second']:.3g}"),
    ("source words/s", lambda own: f"{own['source_words_per_second']:,.0f}"),
    ("target words/s", lambda own: f"{own['target_words_per_second']:,.0f}"),
    ("parameters", lambda own: ABSENT if own["parameters"] is None else f"{own['parameters']:,}"),
    ("multiply-adds a position", lambda own: millions(own["multiply_adds"]["position"])),
    ("of them in the output layer", lambda own: millions(own["multiply_adds"]["output"])),
    ("GFLOP an update", lambda own: f"{own['gflop']:,.4g}"),
    ("GFLOP/s", lambda own: f"{own['gflop_per_second']:,.4g}"),
    ("processors kept busy", lambda own: f"{own['processors']:.2f}"),
    ("share of matrix rate", lambda own: share(own["share_of_matrix_rate"])),
    ("memory before the first update", lambda own: gigabytes(own["resident_bytes_before_first_update"])),
    ("peak memory", lambda own: gigabytes(own["peak_bytes"])),
    ("peak GPU memory", lambda own: gigabytes(own["peak_gpu_bytes"])),
)
RATIOS = (
    ("time", "seconds"),
    ("arithmetic", "gflop"),
    ("time per multiply-add", "seconds_per_gflop"),
    ("peak memory", "peak_bytes"),
)
BASES = ("rnnsearch", "rnnencdec")


def table(found: Figures) -> str:
    """Return a Markdown table with a column per contender and a row per figure. The last rows are ratios."""
    contenders = found["contenders"]
    lines = [[label, *(cell(own) for own in contenders.values())] for label, cell in ROWS]
    for label, _ in RATIOS:
        cells = (times(ratios[label]) for ratios in found["ratios"].values())
        lines.append([f"{label} / {LABELS[base(contenders)]}'s", *cells])
    shown = [line for line in lines if set(line[1:]) != {ABSENT}]
    headers = ["", *(LABELS[name] for name in contenders)]
    aligned = ["left", *["right"] * len(contenders)]
    text: str = tabulate(shown, headers, tablefmt="pipe", disable_numparse=True, colalign=aligned)
    return text


def millions(count: int) -> str:
    """Return a count in millions."""
    return f"{count / 1e6:.1f}M"


def share(found: float | None) -> str:
    """Return a share in per cent; a dash if there is none."""
    return ABSENT if found is None else f"{found:.1%}"


def gigabytes(found: int | None) -> str:
    """Return bytes in GB of 10^9; a dash if there are none."""
    return ABSENT if found is None else f"{found / 1e9:.2f} GB"


def times(ratio: float | None) -> str:
    """Return a ratio; a dash if there is none."""
    return ABSENT if ratio is None else f"{ratio:.2f}x"


def rates(found: Figures) -> str:
    """Return a line with the rates of the matrix products."""
    shown = [
        f"{PRODUCTS[name]} {figures['gflop_per_second']:,.1f}" for name, figures in found["products"].items()
    ]
    return "GFLOP/s: " + ", ".join(shown) if shown else "No matrix product was measured."
