"""Figure 2, plotted as in the paper, and BLEU against unknown words in the same way (2014b, Fig. 4c).

A panel below shows the number of sentences of each point; bands are 95% bootstrap intervals.
"""

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nmt.plots.style import figure_style
from pipeline.config.artifacts import ReportSettings
from pipeline.results.figures.style import (
    PointLabel,
    add_grid,
    draw_bleu_curve,
    line_style,
    write_labels,
)
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import (
    MIN_SENTENCES,
    BleuPoint,
    bleu_by_length,
    bleu_by_unknown_words,
    count_words,
)

_LENGTH_TITLES = {
    "source": "Sentence length",  # as in the paper
    "reference": "Sentence length (reference)",
    "both": "Sentence length (source and reference)",
}
_PAPER_AXIS_END = 30


def plot_bleu_by_length(inputs: Inputs) -> Figure:
    """Plot Figure 2: BLEU on the test set against the length of the sentences.

    Moses' curve comes last. The maximum lengths of the models' training sentences are marked.
    """
    sentences_by_system, settings = inputs.figure2_sentences(), inputs.settings
    window, max_words, side = settings.figure2_window, settings.figure2_max_words, settings.figure2_length

    # 1. the points, and the number of sentences of each length
    curves = {}
    for system, sentences in sentences_by_system.items():
        curves[system] = bleu_by_length(sentences, window, max_words, side, inputs.bootstrap)
    first_model = settings.figure2_models[0]
    lengths = [count_words(sentence, side) for sentence in sentences_by_system[first_model]]
    sentence_counts: dict[float, int] = {words: lengths.count(words) for words in range(1, max_words + 1)}

    # 2. the panels
    with figure_style():
        figure = _make_panels(sentence_counts, "Sentences\nper length")
        curve_axes, bar_axes = figure.axes
        bar_axes.set_xlabel(_LENGTH_TITLES[side])

        # The axis starts at 0, as in the paper. It ends at the longest sentence and half a length later, so that the
        # last bar is as wide as the others.
        axis_end = max((words for words, count in sentence_counts.items() if count), default=max_words)
        curve_axes.set_xlim(0, axis_end + 0.5)
        curve_axes.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 5, 10], integer=True))

        title = f"Windows of {window} lengths with {MIN_SENTENCES} sentences or more"
        _draw_curves(curve_axes, curves, title, settings)
        models = inputs.config.models
        limits = {models[name].max_words for name in settings.figure2_models if name in models}
        for limit in sorted(limits):
            if limit <= max_words:
                _mark_limit(curve_axes, limit)
    return figure


def plot_bleu_by_unknown_words(inputs: Inputs) -> Figure:
    """Plot BLEU on the sentences with at most x unknown source words against x.

    The vocabulary of the first model of Figure 2 says which words are unknown, because Moses has no vocabulary.
    """
    sentences_by_system, settings = inputs.figure2_sentences(), inputs.settings

    # 1. the points
    first_model = settings.figure2_models[0]
    unknown_counts = [sentence["source_unknown"] for sentence in sentences_by_system[first_model]]
    curves = {}
    for system, sentences in sentences_by_system.items():
        curves[system] = bleu_by_unknown_words(
            sentences,
            unknown_counts,
            max_unknown=settings.max_unknown_words,
            bootstrap=inputs.bootstrap,
        )
    sentence_counts = {point.x: point.sentence_count for point in curves[first_model]}

    # 2. the panels
    with figure_style():
        figure = _make_panels(sentence_counts, "Sentences\nwith at most x")
        curve_axes, bar_axes = figure.axes
        bar_axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        bar_axes.set_xlabel("Unknown words in the source")
        curve_axes.set_xlim(-0.5, len(sentence_counts) - 0.5)
        _draw_curves(curve_axes, curves, "Sentences with at most x unknown words", settings, marker="o")
    return figure


def _make_panels(sentence_counts: Mapping[float, int], bar_label: str) -> Figure:
    """Return a figure with an empty panel for curves, and below it a bar of the number of sentences at each x."""
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    _, bar_axes = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    bar_axes.bar(list(sentence_counts), list(sentence_counts.values()), width=0.8, color="0.55")
    bar_axes.set_ylabel(bar_label, fontsize=8)
    bar_axes.tick_params(axis="y", labelsize=8)
    bar_axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    return figure


def _draw_curves(
    axes: Axes,
    curves: Mapping[str, Sequence[BleuPoint]],
    title: str,
    settings: ReportSettings,
    marker: str | None = None,
) -> None:
    """Draw the curve and band of each system, with its label at the end, and write the title above.

    Args:
        axes: the panel, with the final limits of its x axis, by which labels are placed.
        curves: points by system.
        title: says which sentences a point stands for.
        settings: labels, colours and bootstrap.
        marker: the form of a point in matplotlib's notation; None draws lines without points.
    """
    # 1. the curves
    labels = []
    highest_bleu = 0.0
    for system, points in curves.items():
        style = line_style(system, settings)
        label = settings.label(system)
        draw_bleu_curve(
            axes,
            points,
            label=label,
            linewidth=2,
            marker=marker,
            **style,
        )
        last_label = None
        for point in points:
            if point.bleu is not None:
                last_label = PointLabel(point.x, point.bleu, label, style["color"])
                highest_bleu = max(highest_bleu, point.bleu)
        if last_label:
            labels.append(last_label)

    # 2. the axis of the paper, from 0 to 30; a higher score moves its end up to the next ten
    axis_end = max(_PAPER_AXIS_END, min(100, 10 * math.ceil(highest_bleu / 10)))
    axes.set_ylim(0, axis_end)
    axes.set_yticks(range(0, axis_end + 1, 5 if axis_end <= 50 else 10))
    axes.set_ylabel("BLEU score")
    add_grid(axes)

    # 3. texts
    write_labels(
        axes,
        labels,
        max_line_length=18,
        line_height_fraction=0.045,
        margin_fraction=0.2,
        fontsize="small",
    )
    if settings.bootstrap_samples:
        title += "; bands: 95% intervals"
    axes.set_title(
        title,
        loc="left",
        fontsize=8,
        color="0.35",
        pad=18,
    )


def _mark_limit(axes: Axes, words: int) -> None:
    """Mark the maximum length of the sentences that models were trained with."""
    axes.axvline(
        words,
        color="0.45",
        linewidth=0.9,
        linestyle=(0, (1, 2)),
        zorder=0.9,
    )
    axes.annotate(
        f"trained up to {words}",
        xy=(words, axes.get_ylim()[1]),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        fontsize=8,
        color="0.35",
        annotation_clip=False,
    )
