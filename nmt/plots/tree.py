"""Figure of the tree that a gated recursive convolution builds over a sentence (Cho et al., 2014b, Fig. 6)."""

from __future__ import annotations

import html
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.plots.attention import END_LABEL
from nmt.plots.style import COLORS, figure_style

_NEW_NODE_COLOR, _CHILD_COLOR = COLORS[2], COLORS[0]
_LEAF_INCHES, _LEVEL_INCHES = 0.62, 0.42
_LIST_INCHES, _LINE_INCHES, _LINE_CHARACTERS = 4.2, 0.2, 55
"""Width of the list of translations, height of its lines, and how many characters a line has."""
_MERGE_DEPTH = 0.4
"""Levels between a node and the new node that merges its children."""

MIN_GATE = 0.1
"""Gates of at most this value are not shown, as in the paper."""

Gates = Sequence[Sequence[Sequence[float]]]
"""`[w_c, w_l, w_r]` of node j of level t + 1 at `[t][j]`: weights of the new node, the left and the right child."""


def find_nodes_reaching_root(gates: Gates) -> list[tuple[int, int]]:
    """Return level and index of the root and of all nodes that reach it through gates above `MIN_GATE`, from the top.

    Words have level 0, and are left out.
    """
    nodes: list[tuple[int, int]] = []
    indices = {0}  # the nodes of the current level that reach the root
    for level in range(len(gates), 0, -1):
        child_indices: set[int] = set()
        for index in sorted(indices):
            nodes.append((level, index))
            new_gate, left_gate, right_gate = gates[level - 1][index]
            # a child is reached through its own gate, or through the gate of the new node, which merges both children
            if max(new_gate, left_gate) > MIN_GATE:
                child_indices.add(index)
            if max(new_gate, right_gate) > MIN_GATE:
                child_indices.add(index + 1)
        indices = child_indices
    return nodes


def plot_tree(leaves: Sequence[str], gates: Gates, translations: Sequence[tuple[str, float]]) -> Figure:
    """Return a figure of the tree over the leaves (a), and of translations (b).

    A node is the sum of its left child, its right child (blue) and a new node (orange), which merges both. The width of
    a line is the value of the gate. Lines with a gate of at most `MIN_GATE` are left out, and so are nodes without a
    path to the root.

    Args:
        leaves: the source words. An end symbol is an empty leaf.
        translations: translations with their log-probabilities in nats. The figure shows -log p.
    """
    labels = [html.unescape(leaf) or END_LABEL for leaf in leaves]
    with figure_style():
        # the figure, with the tree on the left
        line_count = sum(1 + len(words) // _LINE_CHARACTERS for words, _ in translations)
        tree_width = max(2.0, _LEAF_INCHES * len(leaves))
        width = tree_width + _LIST_INCHES
        height = max(_LINE_INCHES * (line_count + 3), _LEVEL_INCHES * len(leaves) + 1)
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0.02, 0.04, tree_width / width - 0.03, 0.94))

        for level, index in find_nodes_reaching_root(gates):
            _draw_node(axes, level, index, gates[level - 1][index])
        for index, label in enumerate(labels):
            axes.plot(index, 0, "o", color="black", markersize=3)
            axes.text(index, -0.3, label, rotation=90, ha="center", va="top", fontsize=9)

        # leave room below for the longest label
        max_label_length = max(len(label) for label in labels)
        axes.set_xlim(-0.7, len(leaves) - 0.3)
        axes.set_ylim(-1.1 - 0.17 * max_label_length, len(leaves) - 0.5)
        axes.axis("off")
        axes.text(0.0, 1.0, "(a)", transform=axes.transAxes, va="top", fontsize=11)
        _draw_translations(figure, tree_width / width, translations)
    return figure


def _draw_node(axes: Axes, level: int, first_word: int, gates: Sequence[float]) -> None:
    """Draw a node above the middle of its words, and its lines to its children."""
    new_gate, left_gate, right_gate = gates
    x = first_word + level / 2
    left_x, right_x = x - 0.5, x + 0.5

    # the children whose values are part of the node
    for gate, child_x in ((left_gate, left_x), (right_gate, right_x)):
        if gate > MIN_GATE:
            _draw_line(axes, [x, child_x], [level, level - 1], gate, _CHILD_COLOR)

    # the new node, which merges both
    if new_gate > MIN_GATE:
        merge_level = level - _MERGE_DEPTH
        _draw_line(axes, [x, x], [level, merge_level], new_gate, _NEW_NODE_COLOR)
        for child_x in (left_x, right_x):
            _draw_line(axes, [x, child_x], [merge_level, level - 1], new_gate, _NEW_NODE_COLOR)
        axes.plot(x, merge_level, "o", color=_NEW_NODE_COLOR, markersize=4, zorder=2)

    # a plus sign in a circle
    axes.plot(x, level, "o", color="white", markeredgecolor="black", markersize=6, zorder=2)
    axes.plot(x, level, "+", color="black", markersize=5, zorder=3)


def _draw_line(axes: Axes, x: list[float], y: list[float], gate: float, color: str) -> None:
    """Draw a line whose width is proportional to its gate."""
    axes.plot(x, y, color=color, linewidth=3 * gate, zorder=1)


def _draw_translations(figure: Figure, left_edge: float, translations: Sequence[tuple[str, float]]) -> None:
    """Write the translations into a column with wrapped lines. `left_edge` is a fraction of the figure's width."""
    axes = figure.add_axes((left_edge, 0.04, 1 - left_edge - 0.01, 0.94))
    axes.axis("off")
    axes.text(0.0, 1.0, "(b)", transform=axes.transAxes, va="top", fontsize=11)
    text = "\n".join(f"{words} ({-log_probability:.2f})" for words, log_probability in translations)
    axes.text(0.06, 1.0, text, transform=axes.transAxes, va="top", fontsize=8, linespacing=1.7, wrap=True)
