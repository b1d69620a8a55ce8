"""Files of trees: what is written is read, and what is no tree is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from nmt.evaluation.trees import STEPS, as_line, read_trees
from tests.hostile import altered_bytes
from tests.messages import refused

GATES = [[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], [[0.1, 0.2, 0.7]]]


def test_gates_come_back_a_byte_each(tmp_path: Path) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_text(as_line(GATES) + "\n" + as_line([]) + "\n", encoding="utf-8")
    first, second = read_trees(path)
    assert first.leaves == 3 and [round(g / STEPS, 1) for g in first.gates] == [
        *(0.5, 0.3, 0.3), *(0.0, 1.0, 0.0), *(0.1, 0.2, 0.7)
    ]  # fmt: skip
    assert (second.leaves, second.gates) == (1, b"")


@pytest.mark.parametrize(
    "line",
    ["", "[]", '{"leaves": 3, "gates": ""}', '{"leaves": true, "gates": ""}', '{"leaves": 2, "gates": "é"}'],
)
def test_a_line_without_a_tree_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_text(f"{as_line(GATES)}\n{line}\n", encoding="utf-8")
    with refused():
        list(read_trees(path))


@pytest.mark.fuzz
@given(data=st.data())
def test_whatever_a_file_holds_is_trees_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("trees") / "trees.jsonl"
    path.write_bytes(data.draw(altered_bytes(f"{as_line(GATES)}\n".encode())))
    try:
        assert all(2 * len(tree.gates) == 3 * tree.leaves * (tree.leaves - 1) for tree in read_trees(path))
    except UserError as error:
        assert "\n" not in str(error)
