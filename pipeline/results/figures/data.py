"""Words of each training corpus at each stage, beside those that the paper reports."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from nmt.plots.style import COLORS, figure_style
from nmt.settings.text import Languages
from pipeline.results.corpora import Counts, append_total, reported_words
from pipeline.results.inputs import Inputs
from pipeline.results.papers import ReportedData

_MARKS = {"raw": ("o", -0.2), "tokens": ("s", 0.0), "selected": ("D", 0.2)}
"""The mark of each stage, and by how much of a row it is moved, so that none hides another."""


def corpora_figure(corpora: Sequence[Counts], languages: Languages, paper: ReportedData) -> Figure:
    """Pairs and words of the target language: a row per corpus, a mark per stage, on a logarithmic axis.

    Hollow marks are the paper's. Corpora differ a hundredfold.
    """
    rows = [*append_total(corpora)]
    with figure_style():
        figure = Figure(figsize=(8.5, 0.28 * len(rows) + 1.3), layout="constrained")
        pairs, words = figure.subplots(1, 2, sharey=True)
        for (name, (mark, shift)), color in zip(_MARKS.items(), COLORS, strict=False):
            found = [
                (place + shift, stage)
                for place, corpus in enumerate(rows)
                for stage in corpus["stages"]
                if stage["name"] == name
            ]
            if not found:
                continue
            places = [place for place, _ in found]
            pairs.plot([stage["pairs"] for _, stage in found], places, mark, color=color, label=name)
            counted = [stage["target"]["words"] for _, stage in found]
            words.plot([count or float("nan") for count in counted], places, mark, color=color)
            theirs = [(reported_words(corpus, name, paper), row + shift) for row, corpus in enumerate(rows)]
            if known := [(count, place) for count, place in theirs if count]:
                words.plot(*zip(*known, strict=True), mark, color="black", fillstyle="none", markersize=9)
        for axes, label in ((pairs, "Pairs"), (words, f"Words, {languages.target}")):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(label)
            axes.grid(color="0.88", linewidth=0.6)
        pairs.set_yticks(range(len(rows)), [corpus["name"] for corpus in rows])
        pairs.set_ylim(len(rows) - 0.5, -0.5)
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    return corpora_figure(inputs.counts, inputs.config.languages, inputs.reported_data)
