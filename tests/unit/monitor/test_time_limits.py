"""Time limits of training jobs: from the rate, in slices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.monitor.time_limits import progress_of, time_limit, time_slices


def test_a_limit_follows_the_rate_up_to_the_longest() -> None:
    assert time_limit(10_000, 2_500, 120) == 30 + 5 * 60
    assert time_limit(1_000_000, 2_500, 120) == 120 * 60
    assert time_limit(0, 2_500, 120) == time_limit(-5, 2_500, 120) == 30
    assert time_limit(10_000, 2_500, 0.001) == 1


@pytest.mark.parametrize(("updates", "hours", "slices"), [(288_000, 120, 2), (667_000, 4, 134), (10, 4, 1)])
def test_slices_are_enough_for_half_the_rate(updates: int, hours: float, slices: int) -> None:
    assert time_slices(updates, 2_500, hours) == slices
    assert slices * hours * 2_500 >= 2 * updates


def test_progress_is_that_of_the_last_whole_line(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    assert progress_of(history) == (0, None)
    lines = [{"update": 10, "seconds": 9.0}, {"update": 20, "seconds": 36.0}]
    history.write_text(
        "".join(json.dumps(line) + "\n" for line in lines) + '{"update": 30, "sec', encoding="utf-8"
    )
    assert progress_of(history) == (20, 2_000.0)
    history.write_text("", encoding="utf-8")
    assert progress_of(history) == (0, None)
