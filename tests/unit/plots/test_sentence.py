"""Figure 6 of Cho et al. (2014b)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nmt.plots.sentence import nodes_reaching_root, plot_tree
from nmt.plots.style import save_figure

GATES = [
    [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]],  # over words 1-2, 2-3, 3-4
    [[0.05, 0.9, 0.05], [0.8, 0.1, 0.1]],
    [[0.05, 0.9, 0.05]],
]


def test_the_root_is_made_of_what_open_gates_lead_to() -> None:
    found = [(node.level, node.place) for node in nodes_reaching_root(GATES)]
    assert found == [(3, 0), (2, 0), (1, 0)], "each passes its left child on; words 1 and 2 are merged"
    assert [node.x for node in nodes_reaching_root(GATES)] == [1.5, 1.0, 0.5]


@given(st.data())
def test_the_root_is_always_there_and_nothing_beside_the_pyramid(data: st.DataObject) -> None:
    leaves = data.draw(st.integers(1, 8))
    gate = st.lists(st.floats(0, 1), min_size=3, max_size=3)
    gates = [data.draw(st.lists(gate, min_size=n, max_size=n)) for n in range(leaves - 1, 0, -1)]
    places = [(node.level, node.place) for node in nodes_reaching_root(gates)]
    assert (leaves == 1 and not places) or places[0] == (leaves - 1, 0)
    assert all(0 <= place < leaves - level for level, place in places) and len(set(places)) == len(places)


def test_a_sentence_of_one_leaf_is_its_own_root(tmp_path: Path) -> None:
    figure = plot_tree([""], [], [])
    save_figure(figure, tmp_path / "leaf.svg")
    lines = [line.get_marker() for line in figure.axes[0].lines]
    assert lines == ["o"], "a dot, and no gate"
    assert "<end>" in [text.get_text() for text in figure.axes[0].texts]
