"""What a run has found, in words: how models fare on the longest sentences.

One text for the page of the results, the command line and whoever asks: the rule writes it to results/finding.txt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from nmt.evaluation.bleu import BleuCounts
from pipeline.config.artifacts import Report

LEAST = 20
"""Sentences that a statement needs; the range of lengths widens downwards until it has them."""
_KEPT = 0.8
"""Share of its BLEU that a model keeps, or else it falls."""

Rows = Sequence[Mapping[str, Any]]


def finding(scores: Mapping[str, Mapping[str, Any]], settings: Report) -> str:
    """One sentence on the longest test sentences.

    Args:
        scores: of each model that it is about, in this order, what `evaluate` wrote.
        settings: the report's; lengths are those of Figure 2, and end where its axis ends.
    """
    rows = next(iter(scores.values()))["by_sentence"]
    within = [length for row in rows if (length := _length(row, settings)) <= settings.figure2_max_words]
    if not within:
        return f"No test sentence has at most {settings.figure2_max_words} words."
    first, last = _range(within, settings.figure2_window)
    number = sum(first <= length <= last for length in within)
    parts = [
        _fares(settings.label(model), score["by_sentence"], first, last, settings)
        for model, score in scores.items()
    ]
    where = f"{first} to {last} words" if first < last else f"{first} words"
    return f"At {where} ({number:,} of {len(rows):,} test sentences) {'; '.join(parts)}."


def _length(row: Mapping[str, Any], settings: Report) -> int:
    """The length by which Figure 2 puts a sentence; of both sides, the longer."""
    sides = ("source", "reference") if settings.figure2_length == "both" else (settings.figure2_length,)
    return max(int(row[f"{side}_length"]) for side in sides)


def _range(lengths: Sequence[int], window: int) -> tuple[int, int]:
    """The last lengths, as many as a point of Figure 2 averages over, or as hold enough sentences."""
    last = max(lengths)
    enough = sorted(lengths, reverse=True)[: min(LEAST, len(lengths))][-1]
    return max(1, min(last - window + 1, enough)), last


def _fares(label: str, rows: Rows, first: int, last: int, settings: Report) -> str:
    """A model's BLEU on these lengths beside its BLEU on all."""
    counts = [(_length(row, settings), BleuCounts.from_dict(dict(row))) for row in rows]
    everything = reduce(BleuCounts.__add__, [count for _, count in counts]).bleu
    long = reduce(BleuCounts.__add__, [count for length, count in counts if first <= length <= last]).bleu
    if long >= everything:
        return f"{label} has {long:.1f} BLEU ({everything:.1f} on all)"
    if long >= _KEPT * everything:
        return f"{label} keeps {long:.1f} of its {everything:.1f} BLEU"
    return f"{label} falls from {everything:.1f} BLEU to {long:.1f}"
