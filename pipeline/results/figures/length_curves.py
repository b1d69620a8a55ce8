"""BLEU against length as Cho et al. (2014b) draw it in Figures 4 (a, b) and 5: a panel per system, a curve per side."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.evaluation.bleu_curves import Rows, by_length
from nmt.plots.style import COLORS, drawing
from nmt.settings.text import SentenceLength
from pipeline.config.artifacts import Report
from pipeline.results.figures.bleu_curves import FEWEST, Scores, with_enough_sentences

# the paper's lines: source solid, reference dotted, both dashed
_SIDES: dict[SentenceLength, tuple[str, str]] = {
    "source": ("Source text", "-"),
    "reference": ("Reference text", ":"),
    "both": ("Both", "--"),
}
_COLUMNS = 3
_PANEL = (3.2, 2.9)
"""Width and height in inches."""


def length_curves(scores: Scores, settings: Report) -> Figure:
    """BLEU of the sentences whose source, reference or both have lengths within a window, for each system.

    Panels are in the order of `scores`; the window, the end of the axis and the sentences that a point needs are those
    of Figure 2. Sentences where both sides lie within the window are fewer, so that curve may end earlier.
    """
    columns = min(len(scores), _COLUMNS)
    rows = math.ceil(len(scores) / columns)
    width, height = _PANEL
    with drawing():
        figure = Figure(figsize=(max(width * columns, 4.2), height * rows + 0.4), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        highest = max(
            _draw(panel, system, found["by_sentence"], settings)
            for panel, (system, found) in zip(panels, scores.items(), strict=False)
        )
        _frame(list(panels), len(scores), columns, highest, settings)
        note = f"Windows of {settings.figure2_window} lengths with {FEWEST} sentences or more"
        figure.suptitle(note, fontsize=8, color="0.35")
    return figure


def _draw(axes: Axes, system: str, rows: Rows, settings: Report) -> float:
    """Draw the curves of a system; return the highest point."""
    highest = 0.0
    for color, (side, (label, line)) in zip(COLORS, _SIDES.items(), strict=False):
        found = by_length(rows, settings.figure2_window, settings.figure2_max_words, side)
        points = [with_enough_sentences(point) for point in found]
        values = [math.nan if point.bleu is None else point.bleu for point in points]
        axes.plot(
            [point.place for point in points], values, color=color, linestyle=line, linewidth=1.8, label=label
        )
        highest = max([highest, *(value for value in values if not math.isnan(value))])
    axes.set_title(settings.label(system), fontsize=10)
    return highest


def _frame(panels: list[Axes], used: int, columns: int, highest: float, settings: Report) -> None:
    top = min(100, 10 * math.ceil(max(highest, 1) / 10))
    for place, axes in enumerate(panels):
        if place >= used:
            axes.remove()
            continue
        axes.set_xlim(0, settings.figure2_max_words + 0.5)
        axes.set_ylim(0, top)
        axes.grid(color="0.85", linewidth=0.6)
        if place % columns == 0:
            axes.set_ylabel("BLEU score")
        if place + columns >= used:
            axes.set_xlabel("Sentence length")
            axes.tick_params(labelbottom=True)
    panels[0].legend(fontsize=8, handlelength=2.6, framealpha=0.9)
