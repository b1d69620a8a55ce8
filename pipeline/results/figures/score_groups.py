"""BLEU of groups of equally many sentences, sorted by length and by rank of words (Sutskever et al., 2014, Fig. 3)."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.data.vocabulary import UNKNOWN, Vocabulary
from nmt.evaluation.translations import split_words
from nmt.plots.style import figure_style
from pipeline.results.figures.style import add_grid, draw_bleu_curve, line_style
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import bleu_by_rank


def plot_score_groups(inputs: Inputs) -> Figure:
    """Plot BLEU of groups of sentences: sorted by the length of their source, and by the mean rank of their words.

    Each point is the BLEU of one group of sentences, in the middle of the group on the x axis. The ticks show the
    lengths or ranks at the boundaries of the groups. Bands are 95% bootstrap intervals. The settings say whose words
    are ranked: source or reference.
    """
    settings = inputs.settings
    first_system = settings.figure2_models[0]
    lengths = [row["source_length"] for row in inputs.figure2_sentences()[first_system]]
    languages = inputs.config.languages
    language = languages.source if settings.rank_of == "source" else languages.target
    vocabulary = Vocabulary.read(inputs.vocabulary(language))
    lines = inputs.read_text(settings.rank_of)
    mean_ranks = [compute_mean_rank(vocabulary, split_words(line)) for line in lines]
    with figure_style():
        figure = Figure(figsize=(9.6, 4.0), layout="constrained")
        length_axes, rank_axes = figure.subplots(1, 2, sharey=True)
        _draw_panel(length_axes, lengths, inputs)
        _draw_panel(rank_axes, mean_ranks, inputs)

        # titles
        length_axes.set_xlabel("Test sentences sorted by their length")
        rank_axes.set_xlabel("Test sentences sorted by average word frequency rank")
        length_axes.set_ylabel("BLEU score")
        length_axes.legend(fontsize=8, handlelength=4.5)
        title = f"Groups of about {len(mean_ranks) // settings.score_groups:,} sentences"
        if settings.bootstrap_samples:
            title += "; 95% bootstrap intervals"
        length_axes.set_title(
            title,
            loc="left",
            fontsize=8,
            color="0.35",
        )
    return figure


def compute_mean_rank(vocabulary: Vocabulary, tokens: Sequence[str]) -> float:
    """Return the mean frequency rank, from 1, of words or their subwords; 0 without words."""
    # the most frequent word has id 2 and rank 1; an unknown word ranks after the last word
    ranks = [len(vocabulary) - 1 if id_ == UNKNOWN else id_ - 1 for id_ in vocabulary.ids(tokens)]
    return sum(ranks) / max(1, len(ranks))


def _draw_panel(axes: Axes, keys: Sequence[float], inputs: Inputs) -> None:
    """Draw the curve and band of each system over groups of sentences sorted by their keys."""
    settings = inputs.settings
    for system, sentences in inputs.figure2_sentences().items():
        points, boundaries = bleu_by_rank(
            sentences, keys, group_count=settings.score_groups, bootstrap=inputs.bootstrap
        )
        draw_bleu_curve(
            axes,
            points,
            marker="o",
            markersize=4,
            label=settings.label(system),
            **line_style(system, settings),
        )
        axes.set_xticks(range(len(boundaries)), [f"{boundary:.0f}" for boundary in boundaries])
    axes.set_ylim(bottom=0)
    add_grid(axes)
