"""What runs wrote, joined by model and seed, and what is said where it does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmt.errors import UserError
from pipeline.results.run_results import by_run, read_row, same_runs


def write(path: Path, **values: Any) -> Path:
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def test_runs_of_a_model_come_together_in_the_order_given(tmp_path: Path) -> None:
    rows = [
        read_row(write(tmp_path / f"{place}.json", model=model, seed=seed, bleu=place), ["bleu"])
        for place, (model, seed) in enumerate([("b", 3), ("a", 1), ("b", 1)])
    ]
    runs = by_run(rows)
    assert list(runs) == ["b", "a"] and [row["seed"] for row in runs["b"]] == [3, 1]


def test_a_file_without_a_key_or_number_is_named(tmp_path: Path) -> None:
    one = write(tmp_path / "one.json", model="a", seed=1, bleu_all="many")
    for keys in (["hours"], []):
        with pytest.raises(UserError, match=r"one\.json"):
            read_row(one, keys)


def test_runs_are_joined_by_model_and_seed() -> None:
    scores = {"a": [{"seed": 2, "bleu": 5}, {"seed": 1, "bleu": 4}]}
    summaries = {"b": [{"seed": 1}], "a": [{"seed": 1, "hours": 1}, {"seed": 2, "hours": 2}]}
    found = same_runs(scores, summaries, "summary")
    assert found == {"a": [{"seed": 2, "hours": 2}, {"seed": 1, "hours": 1}]}
    with pytest.raises(UserError):
        same_runs({"c": [{"seed": 1}]}, summaries, "summary")
    with pytest.raises(UserError):
        same_runs({"b": [{"seed": 2}]}, summaries, "summary")
