"""Estimates of the time and the disk space that WMT'14 takes, from the rates of a measured run.

A stage with a job for each shard takes the seconds of all jobs, divided by the number of cores. A stage with one
process, or one for each corpus, takes at least as long as its longest job. Stages are assumed to follow one another. A
scheduler runs some of them at the same time, so the estimate is a little too long.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from benchmarks.data.workflow import Run, of
from benchmarks.findings import ROOT

_CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
_CORPORA = [_CONFIG["corpora"][corpus]["pairs"] for corpus in _CONFIG["use"]["train"]]
PAIRS = sum(_CORPORA)
"""The number of pairs of all five corpora."""
LARGEST_SHARE = max(_CORPORA) / PAIRS
"""The share of the largest corpus (10^9), which one process extracts."""

WHOLE = {"selection sample", "data binarize"}
"""These have one process for all text."""
BY_CORPUS = {"data extract"}
"""These have one process for each corpus."""
BY_SIDE = {"data vocabulary"}
"""These have one process for each side of the text."""
FIXED = {"selection kenlm", "selection train-lm", "selection threshold"}
"""The work of these does not grow with the corpus."""


@dataclass(frozen=True)
class Estimate:
    """Holds the hours of each stage on a number of cores."""

    cores: int
    hours: dict[str, float]

    @property
    def total(self) -> float:
        """Return the hours from archives to binary text."""
        return sum(self.hours.values())


def estimate(run: Run, pairs: int, cores: int) -> Estimate:
    """Scale a run over `pairs` pairs to WMT'14 on `cores` cores, without the downloads.

    The run selects half of the words. WMT'14's official files have about 1,350 million, of which 348 are selected. So
    the estimate of the stages after the selection is about twice as long as it should be.
    """
    hours = {}
    for subcommand in sorted({process.subcommand for process in run.used} - {"data download"}):
        seconds = sum(process.seconds for process in of(run.used, subcommand))
        work = seconds if subcommand in FIXED else seconds * PAIRS / pairs
        hours[subcommand] = max(work / cores, longest(subcommand, work)) / 3600
    return Estimate(cores, hours)


def longest(subcommand: str, work: float) -> float:
    """Return the seconds of the longest job of a stage whose jobs take `work` seconds together."""
    if subcommand in WHOLE:
        return work
    if subcommand in BY_SIDE:
        return work / 2
    return work * LARGEST_SHARE if subcommand in BY_CORPUS else 0.0


def disk(run: Run, pairs: int) -> dict[str, float]:
    """Return the GB (10^9 bytes) that each stage of WMT'14 takes."""
    return {stage: size * PAIRS / pairs / 1e9 for stage, size in run.disk.items()}
