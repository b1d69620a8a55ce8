"""BLEU of groups of equally many sentences, sorted by length and by rank of words (Sutskever et al., 2014, Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.data.vocabulary import UNKNOWN, Vocabulary
from nmt.evaluation.translations import split_words
from nmt.plots.style import figure_style
from pipeline.config.display import ReportSettings
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.figures.styles import line_of
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import Rows, groups

_BAND = 0.12


def score_groups(scores: Mapping[str, Rows], ranks: Sequence[float], settings: ReportSettings) -> Figure:
    """Two panels: sentences sorted by the length of their source, and by the average frequency rank of their words.

    Every point is the BLEU of one of `score_groups` groups of equal size, drawn at its middle; ticks carry the lengths
    and ranks at which groups begin and end. Bands are 95% bootstrap intervals.

    Args:
        scores: the sentences of each system, of the same lines, by id in the order of the legend.
        ranks: of each line; empty lines count nothing.
        settings: number of groups, labels, bootstrap.
    """
    with figure_style():
        figure = Figure(figsize=(9.6, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        lengths = [float(row["source_length"]) for row in next(iter(scores.values()))]
        _panel(left, scores, lengths, settings)
        _panel(right, scores, ranks, settings)
        left.set_xlabel("Test sentences sorted by their length")
        right.set_xlabel("Test sentences sorted by average word frequency rank")
        left.set_ylabel("BLEU score")
        left.legend(fontsize=8, handlelength=3)
        size = len(ranks) // settings.score_groups
        bands = "; 95% bootstrap intervals" if settings.bootstrap_samples else ""
        left.set_title(f"Groups of about {size:,} sentences{bands}", loc="left", fontsize=8, color="0.35")
    return figure


def _panel(axes: Axes, scores: Mapping[str, Rows], keys: Sequence[float], settings: ReportSettings) -> None:
    bootstrap = Bootstrap(settings.bootstrap_samples, settings.bootstrap_seed)
    for system, rows in scores.items():
        points, bounds = groups(rows, keys, settings.score_groups, bootstrap)
        line = line_of(system, settings)
        places = [point.place + 0.5 for point in points]
        label, values = settings.label(system), [point.bleu or 0 for point in points]
        axes.plot(places, values, marker="o", markersize=4, label=label, **line)
        intervals = [point.interval for point in points if point.interval]
        if intervals:
            low, high = zip(*intervals, strict=True)
            axes.fill_between(places, low, high, color=line["color"], alpha=_BAND, linewidth=0)
        axes.set_xticks(range(len(bounds)), [f"{bound:.0f}" for bound in bounds])
    axes.set_ylim(bottom=0)
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)


def mean_rank(ranked: Vocabulary, tokens: Sequence[str]) -> float:
    """Return the mean rank of words or their units, from 1. Unknown ones rank after the last; 0 if no words."""
    ranks = [len(ranked) - 1 if id_ == UNKNOWN else id_ - 1 for id_ in ranked.ids(tokens)]
    return sum(ranks) / len(ranks) if ranks else 0.0


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package; words are ranked on the side that the settings name."""
    side = inputs.settings.rank_of
    languages = inputs.config.languages
    language = languages.source if side == "source" else languages.target
    ranked = Vocabulary.read(inputs.package.vocabulary(language))
    ranks = [mean_rank(ranked, split_words(line)) for line in inputs.lines(side)]
    scores = {system: score["by_sentence"] for system, score in inputs.curves().items()}
    return score_groups(scores, ranks, inputs.settings)
