"""One reader of histories: strict on finished ones, patient with what is being written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.training.history import History, count_planned_updates, read_history, read_run_status
from tests.messages import refused
from tests.training_settings import training


def write(path: Path, *lines: dict[str, float | None]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def update(number: int, seconds: float) -> dict[str, float | None]:
    return {"update": number, "train_nll": 1.0, "seconds": seconds, "target_words_per_second": 7.0}


def test_history_is_rewound(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    assert list(read_history(history.path, finished=False)) == []
    history.add({"update": 1})
    size = history.size
    history.add({"update": 2})
    history.rewind(size)
    assert list(read_history(history.path)) == [{"update": 1}]


@pytest.mark.parametrize("damage", ["{", "[1]", '{"no": 1}', "[" * 100_000])
def test_damaged_line(tmp_path: Path, damage: str) -> None:
    path = write(tmp_path / "history.jsonl", update(1, 1.0))
    path.write_text(path.read_text(encoding="utf-8") + damage + "\n", encoding="utf-8")
    with refused():
        list(read_history(path))
    assert read_run_status(path).update == 1


def test_rate_of_last_lines(tmp_path: Path) -> None:
    slow = [update(number, 10.0 * number) for number in range(1, 11)]
    fast = [update(10 + number, 100.0 + number) for number in range(1, 31)]
    found = read_run_status(write(tmp_path / "history.jsonl", *slow, *fast))
    assert (found.update, found.updates_per_second) == (40, 1.0)
    assert read_run_status(write(tmp_path / "history.jsonl", update(5, 2.0))).updates_per_second == 2.5
    assert read_run_status(tmp_path / "nothing").update == 0


@pytest.mark.parametrize(("measure", "best"), [("nll", 10), ("bleu", 20)])
def test_best_score(tmp_path: Path, measure: str, best: int) -> None:
    lines = [
        {"update": 10, "seconds": 1.0, "dev_nll": 2.0, "dev_bleu": 5.0},
        {"update": 20, "seconds": 2.0, "dev_nll": 3.0, "dev_bleu": 9.0},
        {"update": 30, "seconds": 3.0, "dev_nll": 4.0, "dev_bleu": 1.0},
    ]
    found = read_run_status(write(tmp_path / "history.jsonl", *lines), measure)
    assert found.dev and found.best
    assert (found.dev.update, found.best.update) == (30, best)


@pytest.mark.parametrize(
    ("epochs", "updates_per_epoch", "planned"),
    [(None, 20, 30), (1.0, None, 30), (1.0, 20, 20), (1.1, 20, 22), (9.0, 20, 30)],
)
def test_planned_updates(epochs: float | None, updates_per_epoch: float | None, planned: int) -> None:
    """The end is that of `updates` or of `epochs`, whichever comes first."""
    assert count_planned_updates(training(updates=30, epochs=epochs), updates_per_epoch) == planned
