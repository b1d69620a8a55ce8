"""Figure 6 of Cho et al. (2014b)."""

from nmt.plots.style import save_figure
from nmt.plots.tree import find_nodes_reaching_root, plot_tree

GATES = [
    [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]],  # over words 1-2, 2-3, 3-4
    [[0.05, 0.9, 0.05], [0.8, 0.1, 0.1]],
    [[0.05, 0.9, 0.05]],
]


def test_nodes_reaching_root():
    # each passes its left child on; words 1 and 2 are merged
    assert find_nodes_reaching_root(GATES) == [(3, 0), (2, 0), (1, 0)]


def test_tree_of_one_leaf(tmp_path):
    figure = plot_tree([""], [], [])
    save_figure(figure, tmp_path / "leaf.svg")
    markers = [line.get_marker() for line in figure.axes[0].lines]
    assert markers == ["o"], "a dot, and no gate"
    assert "<end>" in [text.get_text() for text in figure.axes[0].texts]
