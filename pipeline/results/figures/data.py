"""Pairs and words of each training corpus at each stage, with the words that the paper reports."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from nmt.plots.style import COLORS, figure_style
from nmt.settings.text import Languages
from pipeline.results.corpora import Counts, append_total, reported_words
from pipeline.results.inputs import Inputs
from pipeline.results.papers import ReportedData

_MARKERS = {"raw": ("o", -0.2), "tokens": ("s", 0.0), "selected": ("D", 0.2)}
"""The marker of each stage, and by how much of a row it is moved, so that none hides another."""


def plot_corpora(inputs: Inputs) -> Figure:
    """Plot the figure of a package."""
    return make_corpora_figure(inputs.counts, inputs.config.languages, inputs.reported_data)


def make_corpora_figure(
    corpora: Sequence[Counts], languages: Languages, reported_data: ReportedData
) -> Figure:
    """Make the figure of pairs and target words: a row per corpus, a marker per stage, hollow markers for the paper.

    The axes are logarithmic, since corpora differ a hundredfold.
    """
    rows = list(append_total(corpora))
    with figure_style():
        figure = Figure(figsize=(8.5, 0.28 * len(rows) + 1.3), layout="constrained")
        pair_axes, word_axes = figure.subplots(1, 2, sharey=True)

        # 1. the markers of each stage
        for (stage_name, (marker, shift)), color in zip(_MARKERS.items(), COLORS, strict=False):
            ys = []
            pair_counts = []
            word_counts = []
            for row, corpus in enumerate(rows):
                for stage in corpus["stages"]:
                    if stage["name"] == stage_name:
                        ys.append(row + shift)
                        pair_counts.append(stage["pairs"])
                        word_counts.append(stage["target"]["words"] or float("nan"))
            if not ys:
                continue
            pair_axes.plot(pair_counts, ys, marker, color=color, label=stage_name)
            word_axes.plot(word_counts, ys, marker, color=color)

            reported_ys = []
            reported_counts = []
            for row, corpus in enumerate(rows):
                if count := reported_words(corpus, stage_name, reported_data):
                    reported_ys.append(row + shift)
                    reported_counts.append(count)
            if reported_counts:
                word_axes.plot(
                    reported_counts, reported_ys, marker, color="black", fillstyle="none", markersize=9
                )

        # 2. the axes
        for axes, title in ((pair_axes, "Pairs"), (word_axes, f"Words, {languages.target}")):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(title)
            axes.grid(color="0.88", linewidth=0.6)
        pair_axes.set_yticks(range(len(rows)), [corpus["name"] for corpus in rows])
        pair_axes.set_ylim(len(rows) - 0.5, -0.5)
        figure.legend(loc="outside right upper", frameon=False)
    return figure
