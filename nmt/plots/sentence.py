"""Figures of one sentence: its attention, as in Figure 3, or its tree (Cho et al., 2014b, Fig. 6)."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from nmt.plots.style import COLORS, figure_style

END_LABEL = "<end>"
GAP_INCHES = 0.3

_CELL_INCHES = 0.19
_LONGEST_PANEL_INCHES = 8.0


class AttentionFigure(Figure):
    """A figure that notebooks can display."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        with figure_style():
            self.savefig(content, format="png", dpi=100)
        return content.getvalue()


def plot_attention(weights: NDArray[Any], source: Sequence[str], target: Sequence[str]) -> AttentionFigure:
    """Draw a matrix [T, S]: source words along x, generated words along y. A pixel is alpha_ij (Eq. 6); 0 is black."""
    with figure_style():
        panel = AttentionPanel.of(weights, source, target)
        width, height = panel.width + 2 * GAP_INCHES, panel.height + GAP_INCHES
        figure = AttentionFigure(figsize=(width, height))
        panel.draw(figure, width - GAP_INCHES, height - GAP_INCHES, "")
    return figure


@dataclass(frozen=True)
class AttentionPanel:
    """One matrix with its words, in inches."""

    weights: np.ndarray
    source: list[str]
    target: list[str]
    cell: float
    left: float
    above: float

    @classmethod
    def of(
        cls, weights: NDArray[Any], source_words: Sequence[str], target_words: Sequence[str]
    ) -> AttentionPanel:
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


# --- trees -----------------------------------------------------------------------------------------------------------

NEW, PASSED = COLORS[2], COLORS[0]
_LEAF_INCHES, _LEVEL_INCHES, _LIST_INCHES = 0.62, 0.42, 4.2
_LIST_LETTERS, _LINE_INCHES = 55, 0.2
_MERGE_BELOW = 0.4
"""Levels between a node and the new node that merges its children."""

MIN_GATE = 0.1
"""Gates of at most this value are not shown, as in the paper."""

Gates = Sequence[Sequence[Sequence[float]]]
"""`[w_c, w_l, w_r]` of node j of level t + 1 at `[t][j]`."""


@dataclass(frozen=True)
class Node:
    """A node that contributes to the root, with its gates. Words have `level` 0."""

    level: int
    place: int
    gates: tuple[float, float, float]

    @property
    def x(self) -> float:
        """The x-coordinate, above the middle of the node's words."""
        return self.place + self.level / 2


def nodes_reaching_root(gates: Gates) -> list[Node]:
    """Return the root and all nodes that reach it through gates above `LEAST`, from the top, without words."""
    wanted, nodes = {0}, []
    for level in range(len(gates), 0, -1):
        below = set()
        for place in sorted(wanted):
            central, left, right = gates[level - 1][place]
            nodes.append(Node(level, place, (central, left, right)))
            below |= {place} if max(central, left) > MIN_GATE else set()
            below |= {place + 1} if max(central, right) > MIN_GATE else set()
        wanted = below
    return nodes


def plot_tree(leaves: Sequence[str], gates: Gates, translations: Sequence[tuple[str, float]]) -> Figure:
    """Draw the tree over the leaves (a), and translations with their negative log-probabilities in nats (b).

    A node is the sum of its left child, its right child (blue) and a new node (orange), which merges both. The width of
    a line is the value of the gate. Lines with a gate of at most `LEAST` are left out, and so are nodes that then do
    not reach the root. The end symbol is an empty leaf.
    """
    labels = [html.unescape(leaf) or END_LABEL for leaf in leaves]
    with figure_style():
        lines = sum(1 + len(words) // _LIST_LETTERS for words, _ in translations)
        width = max(2.0, _LEAF_INCHES * len(leaves))
        height = max(_LINE_INCHES * (lines + 3), _LEVEL_INCHES * len(leaves) + 1)
        figure = Figure(figsize=(width + _LIST_INCHES, height))
        axes = figure.add_axes((0.02, 0.04, width / (width + _LIST_INCHES) - 0.03, 0.94))
        for node in nodes_reaching_root(gates):
            _draw(axes, node)
        for place, label in enumerate(labels):
            axes.plot(place, 0, "o", color="black", markersize=3)
            axes.text(place, -0.3, label, rotation=90, ha="center", va="top", fontsize=9)
        axes.set_xlim(-0.7, len(leaves) - 0.3)
        axes.set_ylim(-1.1 - 0.17 * max(map(len, labels)), len(leaves) - 0.5)
        axes.axis("off")
        axes.text(0.0, 1.0, "(a)", transform=axes.transAxes, va="top", fontsize=11)
        _list(figure, width / (width + _LIST_INCHES), translations)
    return figure


def _draw(axes: Axes, node: Node) -> None:
    """Draw a node and its lines downward."""
    central, left, right = node.gates
    below = [node.place + side + (node.level - 1) / 2 for side in (0, 1)]
    for gate, x in zip((left, right), below, strict=True):
        if gate > MIN_GATE:
            axes.plot([node.x, x], [node.level, node.level - 1], color=PASSED, linewidth=3 * gate, zorder=1)
    if central > MIN_GATE:
        merge = node.level - _MERGE_BELOW
        axes.plot([node.x, node.x], [node.level, merge], color=NEW, linewidth=3 * central, zorder=1)
        for x in below:
            axes.plot([node.x, x], [merge, node.level - 1], color=NEW, linewidth=3 * central, zorder=1)
        axes.plot(node.x, merge, "o", color=NEW, markersize=4, zorder=2)
    axes.plot(node.x, node.level, "o", color="white", markeredgecolor="black", markersize=6, zorder=2)
    axes.plot(node.x, node.level, "+", color="black", markersize=5, zorder=3)


def _list(figure: Figure, left: float, translations: Sequence[tuple[str, float]]) -> None:
    """Write the translations into a separate column, each in as many lines as necessary."""
    axes = figure.add_axes((left, 0.04, 1 - left - 0.01, 0.94))
    axes.axis("off")
    axes.text(0.0, 1.0, "(b)", transform=axes.transAxes, va="top", fontsize=11)
    text = "\n".join(f"{words} ({-log_probability:.2f})" for words, log_probability in translations)
    axes.text(0.06, 1.0, text, transform=axes.transAxes, va="top", fontsize=8, linespacing=1.7, wrap=True)
