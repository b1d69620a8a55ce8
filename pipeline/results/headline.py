"""The headline of a run: a sentence on how the models score on the longest sentences (results/headline.txt)."""

from __future__ import annotations

from nmt.evaluation.bleu import BleuCounts, sum_counts
from pipeline.config.display import ReportSettings
from pipeline.results.seeds import Mean, Results
from pipeline.results.sentence_groups import Rows, count_words

MIN_SENTENCES = 20
"""A statement needs so many sentences. The range of lengths is extended downwards until it has them."""
_KEPT_FRACTION = 0.8
"""A model with a smaller fraction of its BLEU on long sentences is said to fall."""


def describe_longest_sentences(scores: Results, settings: ReportSettings) -> str:
    """Return the headline. A model with several seeds has the mean of its runs.

    Args:
        scores: the scores of the runs of each model, in the order of the headline.
        settings: those of tables and figures. Lengths are counted as in Figure 2, and end at the end of its axis.
    """
    # 1. the lengths of the sentences, which are the same in every run
    first_run, *_ = next(iter(scores.values()))
    rows = first_run["by_sentence"]
    lengths = []
    for row in rows:
        length = count_words(row, settings.figure2_length)
        if length <= settings.figure2_max_words:
            lengths.append(length)
    if not lengths:
        return f"No test sentence has at most {settings.figure2_max_words} words."

    # 2. the lengths that count as long: those of Figure 2's last point, or more if there are too few sentences
    lengths.sort()
    max_length = lengths[-1]
    window_start = max_length - settings.figure2_window + 1
    longest_lengths = lengths[-MIN_SENTENCES:]
    min_length = max(1, min(window_start, longest_lengths[0]))
    sentence_count = sum(length >= min_length for length in lengths)

    # 3. a statement on each model
    statements = []
    for model, runs in scores.items():
        long_scores = []
        total_scores = []
        for run in runs:
            run_rows = run["by_sentence"]
            long_rows = [
                row
                for row in run_rows
                if min_length <= count_words(row, settings.figure2_length) <= max_length
            ]
            long_scores.append(_compute_bleu(long_rows))
            total_scores.append(_compute_bleu(run_rows))
        statements.append(
            _compare(settings.label(model), Mean.from_values(long_scores), Mean.from_values(total_scores))
        )
    words = f"{min_length} to {max_length} words" if min_length < max_length else f"{min_length} words"
    return f"At {words} ({sentence_count:,} of {len(rows):,} test sentences) {'; '.join(statements)}."


def _compute_bleu(rows: Rows) -> float:
    """Return the BLEU of some sentences together."""
    return sum_counts(BleuCounts.from_dict(row) for row in rows).bleu


def _compare(label: str, long_mean: Mean, total_mean: Mean) -> str:
    """Return the statement on a model: its BLEU on long sentences compared with that on all."""
    long_bleu, total_bleu = long_mean.value or 0.0, total_mean.value or 0.0
    if long_bleu >= total_bleu:
        return f"{label} has {long_bleu:.1f} BLEU ({total_bleu:.1f} on all)"
    if long_bleu >= _KEPT_FRACTION * total_bleu:
        return f"{label} keeps {long_bleu:.1f} of its {total_bleu:.1f} BLEU"
    return f"{label} falls from {total_bleu:.1f} BLEU to {long_bleu:.1f}"
