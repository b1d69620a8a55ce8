"""The headline of a run: a sentence on how the models score on the longest sentences (results/headline.txt)."""

import statistics

from nmt.evaluation.bleu import BleuCounts, corpus_bleu
from pipeline.config.display import ReportSettings
from pipeline.results.seeds import Results
from pipeline.results.sentence_groups import count_words

MIN_SENTENCES = 20
"""A statement needs so many sentences. The range of lengths is extended downwards until it has them."""
_KEPT_FRACTION = 0.8
"""A model with a smaller fraction of its BLEU on long sentences is said to fall."""


def describe_longest_sentences(scores: Results, settings: ReportSettings) -> str:
    """Return the headline. A model with several seeds has the mean of its runs.

    Args:
        scores: the scores of the runs of each model, in the order of the headline.
        settings: the settings of tables and figures. Lengths are counted as in Figure 2, up to the end of its axis.
    """
    # 1. the lengths of the sentences, which are the same in every run
    first_run = next(iter(scores.values()))[0]
    all_lengths = [count_words(sentence, settings.figure2_length) for sentence in first_run["by_sentence"]]
    lengths = sorted(length for length in all_lengths if length <= settings.figure2_max_words)
    if not lengths:
        return f"No test sentence has at most {settings.figure2_max_words} words."

    # 2. the lengths that count as long: those of Figure 2's last point, or more if there are too few sentences
    max_length = lengths[-1]
    window_start = max_length - settings.figure2_window + 1
    longest_lengths = lengths[-MIN_SENTENCES:]
    min_length = max(1, min(window_start, longest_lengths[0]))
    sentence_count = sum(length >= min_length for length in lengths)

    # 3. a statement on each model: its BLEU on long sentences compared with that on all
    statements = []
    for model, runs in scores.items():
        long_scores = []
        for run in runs:
            counts = []
            for sentence in run["by_sentence"]:
                if min_length <= count_words(sentence, settings.figure2_length) <= max_length:
                    counts.append(BleuCounts.from_dict(sentence))
            long_scores.append(corpus_bleu(counts))
        long_bleu = statistics.fmean(long_scores)
        total_bleu = statistics.fmean(run["bleu_all"] for run in runs)
        statements.append(f"{settings.label(model)} {_describe_change(long_bleu, total_bleu)}")
    words = f"{min_length} to {max_length} words" if min_length < max_length else f"{min_length} words"
    return f"At {words} ({sentence_count:,} of {len(all_lengths):,} test sentences) {'; '.join(statements)}."


def _describe_change(long_bleu: float, total_bleu: float) -> str:
    """Return the statement on a model's BLEU on long sentences, compared with that on all."""
    if long_bleu >= total_bleu:
        return f"has {long_bleu:.1f} BLEU ({total_bleu:.1f} on all)"
    if long_bleu >= _KEPT_FRACTION * total_bleu:
        return f"keeps {long_bleu:.1f} of its {total_bleu:.1f} BLEU"
    return f"falls from {total_bleu:.1f} BLEU to {long_bleu:.1f}"
