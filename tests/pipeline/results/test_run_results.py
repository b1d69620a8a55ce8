"""What runs wrote, joined by model and seed, and what is said where it does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline.results.run_results import read_by_model, read_runs, same_runs
from tests.messages import refused


def write(path: Path, **values: Any) -> Path:
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def test_files_come_in_the_order_given_and_runs_of_a_model_together(tmp_path: Path) -> None:
    files = [
        write(tmp_path / f"{place}.json", model=model, seed=seed, bleu=place)
        for place, (model, seed) in enumerate([("b", 3), ("a", 1), ("b", 1)])
    ]
    runs = read_runs(files, ["bleu"])
    assert list(runs) == ["b", "a"] and [row["seed"] for row in runs["b"]] == [3, 1]
    assert list(read_by_model(files[:2], ["bleu"])) == ["b", "a"]


def test_a_file_given_twice_or_without_a_key_is_named(tmp_path: Path) -> None:
    one = write(tmp_path / "one.json", model="a", seed=1, bleu=1.0)
    with refused():
        read_by_model([one, one], ["bleu"])
    with refused():
        read_runs([one, one], ["bleu"])
    with refused():
        read_runs([one], ["bleu", "hours"])


def test_runs_are_joined_by_model_and_seed() -> None:
    scores = {"a": [{"seed": 2, "bleu": 5}, {"seed": 1, "bleu": 4}]}
    summaries = {"b": [{"seed": 1}], "a": [{"seed": 1, "hours": 1}, {"seed": 2, "hours": 2}]}
    found = same_runs(scores, summaries, "summary", "--summary")
    assert found == {"a": [{"seed": 2, "hours": 2}, {"seed": 1, "hours": 1}]}
    with refused():
        same_runs({"c": [{"seed": 1}]}, summaries, "summary", "--summary")
    with refused():
        same_runs({"b": [{"seed": 2}]}, summaries, "summary", "--summary")
