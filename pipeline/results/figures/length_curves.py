"""BLEU against length as in Figures 4 (a, b) and 5 of Cho et al. (2014b): a panel per system with a curve per side."""

import math

from matplotlib.figure import Figure

from nmt.plots.style import figure_style
from pipeline.config.text import SentenceLength
from pipeline.results.figures.style import add_grid, draw_bleu_curve, line_style
from pipeline.results.inputs import Inputs
from pipeline.results.sentence_groups import MIN_SENTENCES, bleu_by_length

# the paper's lines: source solid, reference dotted, both dashed
_SIDES: dict[SentenceLength, tuple[str, str]] = {
    "source": ("Source text", "-"),
    "reference": ("Reference text", ":"),
    "both": ("Both", "--"),
}
_MAX_COLUMNS = 3
_PANEL_WIDTH, _PANEL_HEIGHT = 3.2, 2.9  # inches


def plot_length_curves(inputs: Inputs) -> Figure:
    """Plot BLEU against the length of the source, of the reference, and of both, with a panel per system.

    Window, end of the axis and minimum number of sentences are as in Figure 2. The curve of both sides may end earlier,
    because fewer sentences have both lengths within a window.
    """
    sentences_by_system, settings = inputs.figure2_sentences(), inputs.settings

    panel_count = len(sentences_by_system)
    columns = min(panel_count, _MAX_COLUMNS)
    rows = math.ceil(panel_count / columns)
    window, max_words = settings.figure2_window, settings.figure2_max_words
    with figure_style():
        size = max(_PANEL_WIDTH * columns, 4.2), _PANEL_HEIGHT * rows + 0.4
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        for unused_panel in panels[panel_count:]:
            unused_panel.remove()

        # 1. a panel per system
        for index, (system, sentences) in enumerate(sentences_by_system.items()):
            axes = panels[index]
            color = line_style(system, settings)["color"]
            for side, (title, dashes) in _SIDES.items():
                points = bleu_by_length(sentences, window, max_words, side)
                draw_bleu_curve(
                    axes,
                    points,
                    color,
                    linestyle=dashes,
                    linewidth=1.8,
                    label=title,
                )
            axes.set_title(settings.label(system), fontsize=10)
            add_grid(axes)
            if index % columns == 0:
                axes.set_ylabel("BLEU score")
            if index + columns >= panel_count:  # no panel below
                axes.set_xlabel("Sentence length")
                axes.tick_params(labelbottom=True)

        # 2. what all panels share
        highest_bleu = max(1.0, *(axes.dataLim.y1 for axes in panels[:panel_count]))
        panels[0].set_xlim(0, max_words + 0.5)
        panels[0].set_ylim(0, min(100, 10 * math.ceil(highest_bleu / 10)))
        panels[0].legend(fontsize=8, handlelength=2.6, framealpha=0.9)
        note = f"Windows of {window} lengths with {MIN_SENTENCES} sentences or more"
        figure.suptitle(note, fontsize=8, color="0.35")
    return figure
