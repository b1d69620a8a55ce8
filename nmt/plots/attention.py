"""Figures of one attention matrix with its words, as in Figure 3."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from nmt.plots.style import drawing

END_LABEL = "<end>"
GAP_INCHES = 0.3

_CELL_INCHES = 0.19
_LONGEST_PANEL_INCHES = 8.0


class AttentionFigure(Figure):
    """A figure that notebooks can display."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        with drawing():
            self.savefig(content, format="png", dpi=100)
        return content.getvalue()


def attention_matrix(weights: NDArray[Any], source: Sequence[str], target: Sequence[str]) -> AttentionFigure:
    """Draw a matrix [T, S]: source words along x, generated words along y. A pixel is alpha_ij (Eq. 6); 0 is black."""
    with drawing():
        panel = Panel.of(weights, source, target)
        width, height = panel.width + 2 * GAP_INCHES, panel.height + GAP_INCHES
        figure = AttentionFigure(figsize=(width, height))
        panel.draw(figure, width - GAP_INCHES, height - GAP_INCHES, "")
    return figure


@dataclass(frozen=True)
class Panel:
    """One matrix with its words, in inches."""

    weights: np.ndarray
    source: list[str]
    target: list[str]
    cell: float
    left: float
    above: float

    @classmethod
    def of(cls, weights: NDArray[Any], source_words: Sequence[str], target_words: Sequence[str]) -> Panel:
        """Make the panel of a sentence's matrix [T, S], with end symbols if the matrix has rows or columns for them."""
        source = _labels(source_words, weights.shape[1])
        target = _labels(target_words, weights.shape[0])
        cell = min(_CELL_INCHES, _LONGEST_PANEL_INCHES / max(weights.shape))
        size = _font_points(cell)
        return cls(weights, source, target, cell, _widest(target, size), _widest(source, size))

    @property
    def width(self) -> float:
        """Width in inches, the words on the left included."""
        return self.left + self.cell * len(self.weights[0])

    @property
    def height(self) -> float:
        """Height in inches, the words above included."""
        below = 0.3  # for the panel's letter
        return self.above + self.cell * len(self.weights) + below

    def draw(self, figure: Figure, right: float, top: float, letter: str) -> None:
        """Draw the panel, with the matrix' right edge and the labels' upper edge at places from the lower left."""
        rows, columns = self.weights.shape
        width, height = columns * self.cell, rows * self.cell
        total_width, total_height = figure.get_size_inches()
        place = (right - width, top - self.above - height, width, height)
        box = np.asarray(place) / [total_width, total_height, total_width, total_height]
        axes = figure.add_axes((box[0], box[1], box[2], box[3]))
        axes.imshow(self.weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
        font = _font_points(self.cell)
        axes.set_xticks(range(columns), self.source, rotation=90, fontsize=font)
        axes.set_yticks(range(rows), self.target, fontsize=font)
        axes.tick_params(length=2, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.text(0.5, -0.08 / height, letter, transform=axes.transAxes, ha="center", va="top", fontsize=11)


def _labels(words: Sequence[str], count: int) -> list[str]:
    """Return the words without Moses' escapes (such as &apos;), and the end symbol if the matrix has a place for it."""
    return [html.unescape(word) for word in [*words, END_LABEL][:count]]


def _font_points(cell: float) -> float:
    return 72 * cell * 0.62


def _widest(words: Sequence[str], points: float) -> float:
    """Return the width in inches of the longest of these words beside the matrix, with tick and padding."""
    ends = (
        TextPath((0, 0), word, size=points, usetex=False).get_extents().x1 for word in words if word.strip()
    )
    return max(ends, default=0.0) / 72 + 0.09
