"""The main finding of a run in words: how the models score on the longest sentences (results/headline.txt)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nmt.evaluation.bleu import BleuCounts, sum_counts
from pipeline.config.display import ReportSettings
from pipeline.results.runs import Runs
from pipeline.results.seeds import mean
from pipeline.results.sentence_groups import Rows, sides_of

LEAST = 20
"""Least number of sentences for a statement. The range of lengths is extended downwards until it has them."""
_KEPT = 0.8
"""Least share of its BLEU that a model has on long sentences, or else it falls."""


def finding(scores: Runs, settings: ReportSettings) -> str:
    """Return one sentence on the longest test sentences. A model with several seeds has the mean of its runs.

    Args:
        scores: the scores of the runs of each model, in the order of the sentence.
        settings: of the report. Lengths are those of Figure 2, and end where its axis ends.
    """
    rows = next(iter(scores.values()))[0]["by_sentence"]
    within = [length for row in rows if (length := _length(row, settings)) <= settings.figure2_max_words]
    if not within:
        return f"No test sentence has at most {settings.figure2_max_words} words."
    first, last = _range(within, settings.figure2_window)
    number = sum(first <= length <= last for length in within)
    parts = [
        _fares(settings.label(model), [run["by_sentence"] for run in runs], first, last, settings)
        for model, runs in scores.items()
    ]
    where = f"{first} to {last} words" if first < last else f"{first} words"
    return f"At {where} ({number:,} of {len(rows):,} test sentences) {'; '.join(parts)}."


def _length(row: Mapping[str, Any], settings: ReportSettings) -> int:
    """Return the length by which Figure 2 puts a sentence; of both sides, the longer."""
    return max(int(row[f"{side}_length"]) for side in sides_of(settings.figure2_length))


def _range(lengths: Sequence[int], window: int) -> tuple[int, int]:
    """Return the last lengths, as many as a point of Figure 2 covers, or as hold enough sentences."""
    last = max(lengths)
    enough = sorted(lengths, reverse=True)[: min(LEAST, len(lengths))][-1]
    return max(1, min(last - window + 1, enough)), last


def _fares(label: str, runs: Sequence[Rows], first: int, last: int, settings: ReportSettings) -> str:
    """Return a model's BLEU on these lengths beside its BLEU on all."""
    everything = _bleu(runs, 0, math.inf, settings)
    long = _bleu(runs, first, last, settings)
    if long >= everything:
        return f"{label} has {long:.1f} BLEU ({everything:.1f} on all)"
    if long >= _KEPT * everything:
        return f"{label} keeps {long:.1f} of its {everything:.1f} BLEU"
    return f"{label} falls from {everything:.1f} BLEU to {long:.1f}"


def _bleu(runs: Sequence[Rows], first: int, last: float, settings: ReportSettings) -> float:
    """Return the mean over runs of the BLEU on sentences of these lengths."""
    counts = [
        [BleuCounts.from_dict(dict(row)) for row in rows if first <= _length(row, settings) <= last]
        for rows in runs
    ]
    return mean([sum_counts(run).bleu for run in counts]) or 0.0
