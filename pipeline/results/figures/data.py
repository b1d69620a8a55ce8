"""Words of each training corpus at each stage, beside those that the paper reports."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from nmt.plots.style import COLORS, drawing
from nmt.settings.text import Languages
from pipeline.results.corpora import Counts, reported_words, with_total
from pipeline.results.inputs import Inputs
from pipeline.results.papers import ReportedData

_MARKS = {"raw": "o", "tokens": "s", "selected": "D"}


def corpora_figure(corpora: Sequence[Counts], languages: Languages, paper: ReportedData) -> Figure:
    """Pairs and words of the target language: a row per corpus, a mark per stage, on a logarithmic axis.

    Hollow marks are the paper's. Corpora differ a hundredfold.
    """
    rows = [*with_total(corpora)]
    with drawing():
        figure = Figure(figsize=(8.5, 0.28 * len(rows) + 1.3), layout="constrained")
        pairs, words = figure.subplots(1, 2, sharey=True)
        for color, (name, mark) in zip(COLORS, _MARKS.items(), strict=False):
            found = [
                (place, stage)
                for place, corpus in enumerate(rows)
                for stage in corpus["stages"]
                if stage["name"] == name
            ]
            places = [place for place, _ in found]
            pairs.plot([stage["pairs"] for _, stage in found], places, mark, color=color, label=name)
            counted = [stage["target"]["words"] for _, stage in found]
            words.plot([count or float("nan") for count in counted], places, mark, color=color)
            theirs = [(reported_words(corpus, name, paper), place) for place, corpus in enumerate(rows)]
            if known := [(count, place) for count, place in theirs if count]:
                words.plot(*zip(*known, strict=True), mark, color="black", fillstyle="none", markersize=9)
        for axes, label in ((pairs, "Pairs"), (words, f"Words, {languages.target}")):
            axes.set_xscale("log")
            axes.set_xlabel(label)
            axes.grid(color="0.88", linewidth=0.6)
        pairs.set_yticks(range(len(rows)), [corpus["name"] for corpus in rows])
        pairs.set_ylim(len(rows) - 0.5, -0.5)
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    return corpora_figure(inputs.counts, inputs.config.languages, inputs.reported_data)
