"""Reading of histories: strict if the run is finished, lenient while it writes."""

import json
from pathlib import Path

import pytest

from nmt.training.history import (
    History,
    HistoryLine,
    count_planned_updates,
    read_history,
    read_run_status,
)
from tests.messages import refused
from tests.training_settings import training


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.jsonl")


def write_lines(history: History, *lines: HistoryLine) -> None:
    history.path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def update_line(update: int, seconds: float) -> HistoryLine:
    return {"update": update, "train_nll": 1.0, "seconds": seconds}


@pytest.mark.parametrize("damaged_line", ["{", "[1]", '{"no": 1}', "[" * 100_000])
def test_damaged_line(history, damaged_line):
    history.path.write_text(f"{json.dumps(update_line(1, 1.0))}\n{damaged_line}\n", encoding="utf-8")
    with refused():
        list(read_history(history.path))
    assert read_run_status(history.path).update == 1


def test_rate_of_last_lines(history):
    assert read_run_status(history.path).update == 0
    write_lines(history, update_line(5, 2.0))
    assert read_run_status(history.path).updates_per_second == 2.5
    slow_lines = [update_line(update, 10.0 * update) for update in range(1, 11)]
    fast_lines = [update_line(update, 90.0 + update) for update in range(11, 41)]
    write_lines(history, *slow_lines, *fast_lines)
    status = read_run_status(history.path)
    assert (status.update, status.updates_per_second) == (40, 1.0)


def test_continued_run_counts_from_its_base(history):
    """The base ended after update 100, and was slower."""
    write_lines(history, {"update": 100, "dev_nll": 1.0, "seconds": 100.0}, update_line(104, 102.0))
    status = read_run_status(history.path)
    assert (status.update, status.updates_per_second) == (104, 2.0)
    for last_line in ([], [update_line(100, 101.0)]):  # no update yet, and the end of a run that makes none
        write_lines(history, {"update": 100, "dev_nll": 1.0, "seconds": 100.0}, *last_line)
        status = read_run_status(history.path)
        assert (status.update, status.updates_per_second) == (100, None)


@pytest.mark.parametrize(("dev_score", "best_update"), [("nll", 10), ("bleu", 20)])
def test_best_score(history, dev_score, best_update):
    write_lines(
        history,
        {"update": 10, "dev_nll": 2.0, "dev_bleu": 5.0},
        {"update": 20, "dev_nll": 3.0, "dev_bleu": 9.0},
        {"update": 30, "dev_nll": 4.0, "dev_bleu": 1.0},
    )
    status = read_run_status(history.path, dev_score)
    assert status.dev and status.best
    assert (status.dev.update, status.best.update) == (30, best_update)


@pytest.mark.parametrize(
    ("epochs", "updates_per_epoch", "planned"),
    [(None, 20, 30), (1.0, None, 30), (1.0, 20, 20), (1.1, 20, 22), (9.0, 20, 30)],
)
def test_planned_updates(epochs, updates_per_epoch, planned):
    """The end is that of `updates` or of `epochs`, whichever comes first."""
    assert count_planned_updates(training(updates=30, epochs=epochs), updates_per_epoch) == planned
