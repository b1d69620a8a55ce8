"""Figure of the attention of one sentence, as in Figure 3 of the paper."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from nmt.plots.style import figure_style

END_LABEL = "<end>"
GAP_INCHES = 0.3
"""Margin of a figure, and space between panels."""

_CELL_INCHES = 0.19
_MAX_MATRIX_INCHES = 8.0
_PANEL_LETTER_INCHES = 0.3
"""Height of the panel's letter, below the matrix."""


class AttentionFigure(Figure):
    """A figure that notebooks can display."""

    def _repr_png_(self) -> bytes:
        """Return the picture for a notebook."""
        content = io.BytesIO()
        with figure_style():
            self.savefig(content, format="png", dpi=100)
        return content.getvalue()


def plot_attention(weights: NDArray[Any], source: Sequence[str], target: Sequence[str]) -> AttentionFigure:
    """Return a figure of the weights alpha_ij (Eq. 6), (T, S): source words along x, generated words along y.

    0 is black, 1 is white. The matrix may have a row and a column for the end symbols.
    """
    with figure_style():
        panel = AttentionPanel(weights, source, target)
        width, height = panel.width + 2 * GAP_INCHES, panel.height + GAP_INCHES
        figure = AttentionFigure(figsize=(width, height))
        panel.draw(figure, right_edge=width - GAP_INCHES, top_edge=height - GAP_INCHES, letter="")
    return figure


class AttentionPanel:
    """One matrix with its words.

    Attributes:
        weights: the attention (T, S).
        source_labels: the S words above the matrix, with an end symbol if the matrix has a column for it.
        target_labels: the T words left of the matrix, with an end symbol if the matrix has a row for it.
        cell_inches: the size of a pixel.
        left_inches: the width of the words on the left.
        above_inches: the height of the words above.
        width: the width of the panel in inches.
        height: the height of the panel in inches.
    """

    def __init__(self, weights: NDArray[Any], source: Sequence[str], target: Sequence[str]) -> None:
        """Take the attention (T, S) of a sentence, its words, and the words of its translation."""
        self.weights = weights
        rows, columns = weights.shape
        self.source_labels, self.target_labels = _make_labels(source, columns), _make_labels(target, rows)
        self.cell_inches = min(_CELL_INCHES, _MAX_MATRIX_INCHES / max(rows, columns))
        # in points (72 in an inch): 0.62 of a cell, so that a word fits beside its row
        self.font_size = 0.62 * 72 * self.cell_inches
        self.left_inches = _measure_max_label_inches(self.target_labels, self.font_size)
        self.above_inches = _measure_max_label_inches(self.source_labels, self.font_size)
        self.width = self.left_inches + self.cell_inches * columns
        self.height = self.above_inches + self.cell_inches * rows + _PANEL_LETTER_INCHES

    def draw(self, figure: Figure, right_edge: float, top_edge: float, letter: str) -> None:
        """Draw the panel into a figure.

        Args:
            right_edge: the right edge of the matrix, in inches from the left.
            top_edge: the upper edge of the source words, in inches from the bottom.
            letter: the text below the matrix, such as "(a)".
        """
        # the place of the matrix: in inches, and in `box` as fractions of the figure
        rows, columns = self.weights.shape
        width, height = columns * self.cell_inches, rows * self.cell_inches
        total_width, total_height = figure.get_size_inches()
        left, bottom = right_edge - width, top_edge - self.above_inches - height
        box = (left / total_width, bottom / total_height, width / total_width, height / total_height)

        axes = figure.add_axes(box)
        axes.imshow(self.weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
        axes.set_xticks(range(columns), self.source_labels, rotation=90, fontsize=self.font_size)
        axes.set_yticks(range(rows), self.target_labels, fontsize=self.font_size)
        axes.tick_params(length=2, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False)
        letter_y = -0.08 / height  # 0.08 inches below the matrix, whose height is 1
        axes.text(0.5, letter_y, letter, transform=axes.transAxes, ha="center", va="top", fontsize=11)


def _make_labels(words: Sequence[str], count: int) -> list[str]:
    """Return `count` labels: the words without Moses' escapes (such as &apos;), and perhaps the end symbol."""
    return [html.unescape(word) for word in [*words, END_LABEL][:count]]


def _measure_max_label_inches(labels: Sequence[str], font_size: float) -> float:
    """Return the width of the widest label beside the matrix, with tick and padding."""
    widths = [0.0]  # in points
    for label in labels:
        if label.strip():
            widths.append(TextPath((0, 0), label, size=font_size, usetex=False).get_extents().x1)
    return max(widths) / 72 + 0.09
