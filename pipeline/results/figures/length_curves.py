"""BLEU against length as Cho et al. (2014b) draw it in Figures 4 (a, b) and 5: a panel per system, a curve per side."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from nmt.plots.style import figure_style
from pipeline.config.display import ReportSettings
from pipeline.config.text import SentenceLength
from pipeline.results.figures.bleu_curves import FEWEST, Scores, draw_curve
from pipeline.results.figures.styles import line_of
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import by_length

# the paper's lines: source solid, reference dotted, both dashed
_SIDES: dict[SentenceLength, tuple[str, str]] = {
    "source": ("Source text", "-"),
    "reference": ("Reference text", ":"),
    "both": ("Both", "--"),
}
_COLUMNS = 3
_PANEL = (3.2, 2.9)
"""Width and height in inches."""


def length_curves(scores: Scores, settings: ReportSettings) -> Figure:
    """BLEU of the sentences whose source, reference or both have lengths within a window, for each system.

    Panels are in the order of `scores`; the window, the end of the axis and the sentences that a point needs are those
    of Figure 2. Sentences where both sides lie within the window are fewer, so that curve may end earlier.
    """
    columns = min(len(scores), _COLUMNS)
    rows = math.ceil(len(scores) / columns)
    width, height = _PANEL
    window, longest = settings.figure2_window, settings.figure2_max_words
    with figure_style():
        figure = Figure(figsize=(max(width * columns, 4.2), height * rows + 0.4), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        highest = 1.0
        for place, (system, score) in enumerate(scores.items()):
            axes = panels[place]
            color = line_of(system, settings)["color"]
            for side, (name, line) in _SIDES.items():
                points = by_length(score["by_sentence"], window, longest, side)
                known = draw_curve(axes, points, color, linestyle=line, linewidth=1.8, label=name)
                highest = max([highest, *(bleu for _, bleu in known)])
            axes.set_title(settings.label(system), fontsize=10)
            axes.grid(color="0.85", linewidth=0.6)
            if place % columns == 0:
                axes.set_ylabel("BLEU score")
            if place + columns >= len(scores):
                axes.set_xlabel("Sentence length")
                axes.tick_params(labelbottom=True)
        for axes in panels[len(scores) :]:
            axes.remove()
        panels[0].set_xlim(0, longest + 0.5)
        panels[0].set_ylim(0, min(100, 10 * math.ceil(highest / 10)))
        panels[0].legend(fontsize=8, handlelength=2.6, framealpha=0.9)
        note = f"Windows of {window} lengths with {FEWEST} sentences or more"
        figure.suptitle(note, fontsize=8, color="0.35")
    return figure


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    return length_curves(inputs.curves(), inputs.settings)
