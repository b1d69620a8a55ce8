"""What a run has found, in words: how a model that aligns and one that does not fare on the longest sentences.

One text for the page of the results, the command line and whoever asks: the rule writes it to results/finding.txt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from nmt.config.families import FAMILIES
from nmt.config.schema import Report
from nmt.errors import UserError
from nmt.evaluation.bleu import BleuCounts

LEAST = 20
"""Sentences that a statement needs; the range of lengths widens downwards until it has them."""
_KEPT = 0.8
"""Share of its BLEU that a model keeps, or else it falls."""

Rows = Sequence[Mapping[str, Any]]


def finding(
    scores: Mapping[str, Mapping[str, Any]], summaries: Mapping[str, Mapping[str, Any]], settings: Report
) -> str:
    """One sentence on the longest test sentences, for two models of Figure 2: the first that aligns, the first that
    does not; the first two where all are of a kind.

    Args:
        scores: by model what `evaluate` wrote.
        summaries: by model what training wrote; of models without one nothing is known but the score.
        settings: the report's; lengths are those of Figure 2, and end where its axis ends.
    """
    absent = [model for model in settings.figure2_models if model not in scores]
    if absent:
        raise UserError(
            f"artifacts.figure2_models names {absent[0]!r}, which has no score; give its file with --score"
        )
    models = compared(settings.figure2_models, summaries)
    rows = scores[models[0]]["by_sentence"]
    lengths = [_length(row, settings) for row in rows]
    within = [length for length in lengths if length <= settings.figure2_max_words]
    if not within:
        return f"No test sentence has at most {settings.figure2_max_words} words."
    first, last = _range(within, settings.figure2_window)
    number = sum(first <= length <= last for length in lengths)
    parts = [
        _fares(settings.short_label(model), scores[model]["by_sentence"], first, last, settings)
        for model in models
    ]
    where = f"{first} to {last} words" if first < last else f"{first} words"
    sentences = f"{number:,} of {len(rows):,} test sentences"
    return f"At {where} ({sentences}) {'; '.join(parts)}."


def compared(models: Sequence[str], summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The models that the finding is about, at most two."""
    families = {model: summaries[model]["family"] for model in models if model in summaries}
    unknown = sorted(set(families.values()) - set(FAMILIES))
    if unknown:
        raise UserError(
            f"--summary: a model's family is {unknown[0]!r}, expected {' or '.join(FAMILIES)}; make the file again"
        )
    aligns = {model: FAMILIES[family].aligns for model, family in families.items()}
    pair = [next((model for model in models if aligns.get(model) is kind), None) for kind in (True, False)]
    return [model for model in pair if model] if None not in pair else list(models[:2])


def _length(row: Mapping[str, Any], settings: Report) -> int:
    """The length by which Figure 2 puts a sentence; of both sides, the longer."""
    sides = ("source", "reference") if settings.figure2_length == "both" else (settings.figure2_length,)
    return max(int(row[f"{side}_length"]) for side in sides)


def _range(lengths: Sequence[int], window: int) -> tuple[int, int]:
    """The last lengths, as many as a point of Figure 2 averages over, or as hold enough sentences."""
    last = max(lengths)
    enough = sorted(lengths, reverse=True)[: min(LEAST, len(lengths))][-1]
    return max(1, min(last - window, enough)), last


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
