"""How long and how much disk WMT'14 takes, from the rates of a measured run.

A stage whose work is dealt to shards takes its work over the cores; a stage that is one process, or a process per
corpus, takes at least its longest job. Stages follow one another, which is a little more than what a scheduler makes
of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from benchmarks.data.workflow import ROOT, Run, of

_CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
_CORPORA = [_CONFIG["corpora"][corpus]["pairs"] for corpus in _CONFIG["use"]["train"]]
PAIRS = sum(_CORPORA)
"""Pairs of the five corpora."""
LARGEST_SHARE = max(_CORPORA) / PAIRS
"""The 10^9 corpus, which one process extracts."""

WHOLE = {"selection sample"}
"""One process for all text."""
BY_CORPUS = {"data extract"}
SELECTED_ONCE = {"data binarize"}
"""One process for all that was selected."""
SELECTED_SIDES = {"data vocabulary"}
"""One process per side for all that was selected."""
FIXED = {"data download", "selection kenlm", "selection train-lm", "selection threshold"}
"""Work that does not grow with the corpus, or, downloads, not with the machine."""


@dataclass(frozen=True)
class Estimate:
    """Hours of each stage on so many cores."""

    cores: int
    hours: dict[str, float]

    @property
    def total(self) -> float:
        """Hours from archives to binary text."""
        return sum(self.hours.values())


def estimate(run: Run, pairs: int, cores: int) -> Estimate:
    """Scale a run over `pairs` pairs, of which half of the words were selected, to WMT'14 on `cores` cores.

    The paper keeps 348 of 1,350 million words, so stages after the selection have half of the work that the share
    of pairs says; counting it whole errs on the long side.
    """
    hours = {}
    for subcommand in sorted({process.subcommand for process in run.used} - {"data download"}):
        seconds = sum(process.seconds for process in of(run.used, subcommand))
        work = seconds if subcommand in FIXED else seconds * PAIRS / pairs
        hours[subcommand] = max(work / cores, longest(subcommand, work)) / 3600
    return Estimate(cores, hours)


def longest(subcommand: str, work: float) -> float:
    """Seconds of the longest single job of a stage with so much work."""
    if subcommand in WHOLE | SELECTED_ONCE:
        return work
    if subcommand in SELECTED_SIDES:
        return work / 2
    return work * LARGEST_SHARE if subcommand in BY_CORPUS else 0.0


def disk(run: Run, pairs: int) -> dict[str, float]:
    """GB (10^9 bytes) that the stages of WMT'14 take."""
    return {stage: size * PAIRS / pairs / 1e9 for stage, size in run.disk.items()}
