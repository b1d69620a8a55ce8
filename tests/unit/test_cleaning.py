from __future__ import annotations

from pathlib import Path

import pytest

from nmt.cleaning import clean, reason_to_drop
from nmt.errors import UserError
from nmt.files import read_json
from nmt.settings import Cleaning
from nmt.text import read_lines, write_lines

LIMITS = Cleaning(max_words=4, max_ratio=2.0)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("a", "b", None),
        ("", "b", "empty"),
        ("a", " \u00a0\t", "empty"),
        ("a b c d", "a b c d", None),
        ("a b c d e", "a b c d", "too_long"),
        ("a b c d", "a b c d e", "too_long"),
        ("a b", "a b c d", None),
        ("a", "a b c", "ratio"),
        ("a b c", "a", "ratio"),
    ],
)
def test_reasons(source: str, target: str, reason: str | None) -> None:
    assert reason_to_drop(source, target, LIMITS) == reason


def test_without_limits_only_empty_sides_go() -> None:
    assert reason_to_drop("a " * 500, "b", Cleaning()) is None
    assert reason_to_drop("a", "", Cleaning()) == "empty"


def test_dropped_pairs_become_empty_lines_and_are_counted(tmp_path: Path) -> None:
    sides = {"s": ["a b", "x", "", "a a a a a", "c"], "t": ["d", "", "y", "b", "e e e"]}
    for name, lines in sides.items():
        with write_lines(tmp_path / name) as writer:
            for line in lines:
                writer.write(line)
    outputs = tmp_path / "s.zst", tmp_path / "t.zst"
    clean(tmp_path / "s", tmp_path / "t", LIMITS, *outputs, tmp_path / "counts.json")
    assert [*read_lines(outputs[0])] == ["a b", "", "", "", ""]
    assert [*read_lines(outputs[1])] == ["d", "", "", "", ""]
    expected = {"pairs": 5, "kept": 1, "empty": 2, "too_long": 1, "ratio": 1}
    expected |= {"kept_source_words": 2, "kept_target_words": 1}
    assert read_json(tmp_path / "counts.json") == expected


def test_uneven_sides_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a\nb\n")
    (tmp_path / "t").write_text("a\n")
    outputs = tmp_path / "so", tmp_path / "to"
    with pytest.raises(UserError, match="has 2 lines but"):
        clean(tmp_path / "s", tmp_path / "t", LIMITS, *outputs, tmp_path / "counts.json")
    assert {path.name for path in tmp_path.iterdir()} == {"s", "t"}
