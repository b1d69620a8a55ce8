"""The headline of a run: a sentence on how the models score on the longest sentences (results/headline.txt)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nmt.evaluation.bleu import BleuCounts, sum_counts
from pipeline.config.display import ReportSettings
from pipeline.results.seeds import Mean, Results
from pipeline.results.sentence_groups import Rows, counted_sides

MIN_SENTENCES = 20
"""A statement needs so many sentences. The range of lengths is extended downwards until it has them."""
_KEPT_FRACTION = 0.8
"""A model with a smaller fraction of its BLEU on long sentences is said to fall."""


def describe_longest_sentences(scores: Results, settings: ReportSettings) -> str:
    """Return the headline. A model with several seeds has the mean of its runs.

    Args:
        scores: the scores of the runs of each model, in the order of the headline.
        settings: of the report. Lengths are those of Figure 2, and end at the end of its axis.
    """
    rows = next(iter(scores.values()))[0]["by_sentence"]
    max_words = settings.figure2_max_words
    lengths = sorted(
        length for length in (_count_words(row, settings) for row in rows) if length <= max_words
    )
    if not lengths:
        return f"No test sentence has at most {max_words} words."

    # the lengths of Figure 2's last point, or more if there are too few sentences
    max_length = lengths[-1]
    min_length = max(1, min(max_length - settings.figure2_window + 1, lengths[-MIN_SENTENCES:][0]))
    number = sum(length >= min_length for length in lengths)

    statements = []
    for model, runs in scores.items():
        rows_of_runs = [run["by_sentence"] for run in runs]
        long_rows_of_runs = []
        for run_rows in rows_of_runs:
            long_rows = [row for row in run_rows if min_length <= _count_words(row, settings) <= max_length]
            long_rows_of_runs.append(long_rows)
        long_bleu, total_bleu = _mean_bleu(long_rows_of_runs), _mean_bleu(rows_of_runs)
        statements.append(_compare(settings.label(model), long_bleu, total_bleu))
    words = f"{min_length} to {max_length} words" if min_length < max_length else f"{min_length} words"
    return f"At {words} ({number:,} of {len(rows):,} test sentences) {'; '.join(statements)}."


def _count_words(row: Mapping[str, Any], settings: ReportSettings) -> int:
    """Return a sentence's length in Figure 2; if both sides count, that of the longer one."""
    return max(int(row[f"{side}_length"]) for side in counted_sides(settings.figure2_length))


def _mean_bleu(rows_of_runs: Sequence[Rows]) -> float:
    """Return the mean over runs of the BLEU on their sentences."""
    scores = []
    for rows in rows_of_runs:
        scores.append(sum_counts(BleuCounts.from_dict(row) for row in rows).bleu)
    return Mean.of(scores).value or 0.0


def _compare(label: str, long_bleu: float, total_bleu: float) -> str:
    """Return the statement on a model: its BLEU on long sentences compared with that on all."""
    if long_bleu >= total_bleu:
        return f"{label} has {long_bleu:.1f} BLEU ({total_bleu:.1f} on all)"
    if long_bleu >= _KEPT_FRACTION * total_bleu:
        return f"{label} keeps {long_bleu:.1f} of its {total_bleu:.1f} BLEU"
    return f"{label} falls from {total_bleu:.1f} BLEU to {long_bleu:.1f}"
