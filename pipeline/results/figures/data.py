"""Pairs and words of each training corpus at each stage, with the words that the paper reports."""

from __future__ import annotations

import math
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from nmt.plots.style import COLORS, figure_style
from pipeline.results.corpora import append_total, reported_words
from pipeline.results.inputs import Inputs


class StageStyle(NamedTuple):
    """Marker and colour of a stage, and the fraction of a row by which it is moved, so that no marker hides another."""

    marker: str
    color: str
    shift: float


_STAGES = {
    "raw": StageStyle("o", COLORS[0], -0.2),
    "tokens": StageStyle("s", COLORS[1], 0.0),
    "selected": StageStyle("D", COLORS[2], 0.2),
}


def plot_corpora(inputs: Inputs) -> Figure:
    """Plot pairs and target words: a row per corpus, a marker per stage, hollow markers for the paper.

    The axes are logarithmic, since corpora differ a hundredfold.
    """
    corpora = append_total(inputs.counts)
    with figure_style():
        figure = Figure(figsize=(8.5, 0.28 * len(corpora) + 1.3), layout="constrained")
        pair_axes, word_axes = figure.subplots(1, 2, sharey=True)

        # 1. the markers of each stage
        for stage_name, style in _STAGES.items():
            ys = []
            pair_counts = []
            word_counts = []
            reported_counts = []
            for row, corpus in enumerate(corpora):
                for stage in corpus["stages"]:
                    if stage["name"] == stage_name:
                        ys.append(row + style.shift)
                        pair_counts.append(stage["pairs"])
                        word_counts.append(stage["target"]["words"] or math.nan)
                        reported_count = reported_words(corpus, stage_name, inputs.reported_data)
                        reported_counts.append(reported_count or math.nan)
            if ys:
                pair_axes.plot(pair_counts, ys, style.marker, color=style.color, label=stage_name)
                word_axes.plot(word_counts, ys, style.marker, color=style.color)
                word_axes.plot(
                    reported_counts,
                    ys,
                    style.marker,
                    color="black",
                    fillstyle="none",
                    markersize=9,
                )

        # 2. the axes
        for axes, title in ((pair_axes, "Pairs"), (word_axes, f"Words, {inputs.config.languages.target}")):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(title)
            axes.grid(color="0.88", linewidth=0.6)
        pair_axes.set_yticks(range(len(corpora)), [corpus["name"] for corpus in corpora])
        pair_axes.set_ylim(len(corpora) - 0.5, -0.5)  # the first row on top
        figure.legend(loc="outside right upper", frameon=False)
    return figure
