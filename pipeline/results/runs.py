"""Results of runs (scores, summaries, settings), by model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nmt.evaluation.bleu import BleuCounts
from pipeline.results.seeds import Row

Runs = Mapping[str, Sequence[Row]]
"""Results of each run, by model."""


def by_model(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return results by their model, in the order given, those of a model together."""
    runs: dict[str, list[Row]] = {}
    for row in rows:
        runs.setdefault(row["model"], []).append(row)
    return runs


def sentences(score: Row, mode: str) -> list[Row]:
    """Return the sentences of a score: all, or those without unknown words (`no_unk`)."""
    rows: list[Row] = score["by_sentence" if mode == "all" else "by_sentence_no_unk"]
    return rows


def sentence_counts(score: Row, mode: str) -> list[BleuCounts]:
    """Return the counts for BLEU of each sentence of a score."""
    return [*map(BleuCounts.from_dict, sentences(score, mode))]
