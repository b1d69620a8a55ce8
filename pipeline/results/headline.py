"""The headline of a run: a sentence on how the models score on the longest sentences (results/headline.txt)."""

import statistics
from collections.abc import Sequence
from itertools import compress

from pipeline.config.artifacts import ReportSettings
from pipeline.config.experiment import select_contrasted_models
from pipeline.results.bootstrap import NO_SAMPLES, SampledBleu
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import count_words

MIN_LONG_SENTENCES = 20
"""Minimum number of long sentences. The range of lengths is extended downwards until it has so many."""
_KEPT_FRACTION = 0.8
"""If BLEU on long sentences is a smaller fraction of BLEU on all, the headline says that the model falls."""


def describe_longest_sentences(inputs: Inputs) -> str:
    """Return the headline, with the mean BLEU of each model's runs.

    Lengths are counted as in Figure 2, up to the end of its axis.
    """
    # 1. the longest sentences, which are the same in every run
    settings, scores = inputs.settings, inputs.scores()
    models = select_contrasted_models(inputs.config)
    sentences = scores[models[0]][0]["by_sentence"]
    lengths = [count_words(sentence, settings.figure2_length) for sentence in sentences]
    longest = find_longest_lengths(lengths, settings)
    if not longest:
        return f"No test sentence has at most {settings.figure2_max_words} words.\n"
    is_long = [length in longest for length in lengths]

    # 2. a statement on each model: BLEU on long sentences compared with BLEU on all
    statements = []
    for model in models:
        long_sentences = [list(compress(run["by_sentence"], is_long)) for run in scores[model]]
        long_bleu = SampledBleu(long_sentences, NO_SAMPLES).bleu
        total_bleu = statistics.fmean(run["bleu_all"] for run in scores[model])
        statements.append(f"{settings.label(model)} {_describe_change(long_bleu, total_bleu)}")
    counts = f"{is_long.count(True):,} of {len(lengths):,} test sentences"
    return f"At {longest[0]} to {longest[-1]} words ({counts}) {'; '.join(statements)}.\n"


def find_longest_lengths(lengths: Sequence[int], settings: ReportSettings) -> range:
    """Return the lengths of the longest sentences; an empty range if all sentences are beyond Figure 2's axis.

    These are the sentences of Figure 2's last point, and shorter ones if there are too few.
    """
    plotted_lengths = sorted(length for length in lengths if length <= settings.figure2_max_words)
    if not plotted_lengths:
        return range(0)
    max_length = plotted_lengths[-1]
    window_start = max_length - settings.figure2_window + 1
    min_length = min(window_start, plotted_lengths[-MIN_LONG_SENTENCES:][0])
    return range(max(1, min_length), max_length + 1)


def _describe_change(long_bleu: float, total_bleu: float) -> str:
    """Return the statement that compares a model's BLEU on long sentences with BLEU on all."""
    if long_bleu >= total_bleu:
        return f"has {long_bleu:.1f} BLEU ({total_bleu:.1f} on all)"
    if long_bleu >= _KEPT_FRACTION * total_bleu:
        return f"keeps {long_bleu:.1f} of its {total_bleu:.1f} BLEU"
    return f"falls from {total_bleu:.1f} BLEU to {long_bleu:.1f}"
