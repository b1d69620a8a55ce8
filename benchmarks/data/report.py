"""Figures and tables of the measured runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tabulate import tabulate

from benchmarks.data.workflow import Run, of
from nmt.io.text_files import read_lines

Figures = dict[str, Any]


def figures(data: Path, run: Run, pairs: int, raw_bytes: int) -> Figures:
    """Return all figures of one run over `pairs` pairs with `raw_bytes` bytes of text."""
    subcommands = sorted({process.subcommand for process in run.used})
    seconds = {
        subcommand: sum(process.seconds for process in of(run.used, subcommand)) for subcommand in subcommands
    }
    words = {language: count(data / "tokens" / "europarl-v7", language) for language in ("en", "fr")}
    both = sum(words.values())
    return {
        "pairs": pairs,
        "raw_mb": raw_bytes / 1e6,
        "tokens": words,
        "seconds": run.seconds,
        "mb_per_second": raw_bytes / 1e6 / run.seconds,
        "tokens_per_second_tokenize": both / seconds["data tokenize"],
        "words_per_second_score": both / seconds["selection score"],
        "process_seconds": seconds,
        "jobs": {subcommand: len(of(run.used, subcommand)) for subcommand in subcommands},
        "peak_mb": {
            subcommand: max(process.peak_mb for process in of(run.used, subcommand))
            for subcommand in subcommands
        }
        | {"lmplz": max(process.children_peak_mb for process in of(run.used, "selection train-lm"))},
        "disk_mb": {stage: size / 1e6 for stage, size in run.disk.items()},
    }


def count(folder: Path, language: str) -> int:
    """Return the number of words in all shards of one side."""
    return sum(
        line.count(" ") + 1 for path in folder.glob(f"*.{language}.zst") for line in read_lines(path) if line
    )


def table(found: Figures) -> str:
    """Return the figures as two tables of text."""
    sizes = found["sizes"]
    subcommands = dict.fromkeys(subcommand for size in sizes.values() for subcommand in size["peak_mb"])
    memory = [
        [subcommand, *(size["peak_mb"].get(subcommand) for size in sizes.values())]
        for subcommand in subcommands
    ]
    names = ("seconds", "mb_per_second", "tokens_per_second_tokenize", "words_per_second_score")
    rates = [[name, *(f"{size[name]:,.1f}" for size in sizes.values())] for name in names]
    hours = [
        [
            f"WMT'14, hours on {cores} cores",
            *(f"{size['wmt14_hours'][cores]['all']:.2f}" for size in sizes.values()),
        ]
        for cores in next(iter(sizes.values()))["wmt14_hours"]
    ]
    headers = [f"x {size}" for size in sizes]
    return "\n\n".join(
        [
            tabulate(memory, headers=["peak MB", *headers], floatfmt=".0f"),
            tabulate([*rates, *hours], headers=["", *headers]),
        ]
    )
