"""The functions that plot the figures of a run."""

from collections.abc import Callable

from matplotlib.figure import Figure

from pipeline.results.figures.bleu_curves import plot_bleu_by_length, plot_bleu_by_unknown_words
from pipeline.results.figures.figure3 import plot_attention
from pipeline.results.figures.learning_curves import plot_learning_curves
from pipeline.results.figures.length_curves import plot_length_curves
from pipeline.results.figures.score_groups import plot_score_groups
from pipeline.results.figures.sentence_vectors import plot_sentence_vectors
from pipeline.results.inputs import Inputs

FIGURES: dict[str, Callable[[Inputs], Figure]] = {
    "figure2": plot_bleu_by_length,
    "figure3": plot_attention,
    "learning_curves": plot_learning_curves,
    "length_curves": plot_length_curves,
    "score_groups": plot_score_groups,
    "sentence_vectors": plot_sentence_vectors,
    "unknown_words": plot_bleu_by_unknown_words,
}
"""The function for each figure, by the name of its files."""
