"""Time limits of training jobs: from the rate, in slices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.config.layers import find_layers, load
from pipeline.config.runs import runs_of
from pipeline.monitor.time_limits import (
    expected_rate,
    operations,
    time_limit,
    time_slices,
    training_minutes,
    training_retries,
)
from tests.running import ROOT


def test_a_limit_follows_the_rate_up_to_the_longest() -> None:
    assert time_limit(10_000, 2_500, 120) == 30 + 5 * 60
    assert time_limit(1_000_000, 2_500, 120) == 120 * 60
    assert time_limit(0, 2_500, 120) == time_limit(-5, 2_500, 120) == 30
    assert time_limit(10_000, 2_500, 0.001) == 1


@pytest.mark.parametrize(("updates", "hours", "slices"), [(288_000, 120, 2), (667_000, 4, 134), (10, 4, 1)])
def test_slices_are_enough_for_half_the_rate(updates: int, hours: float, slices: int) -> None:
    assert time_slices(updates, 2_500, hours) == slices
    assert slices * hours * 2_500 >= 2 * updates


def test_training_asks_for_what_is_left_at_its_own_rate(tmp_path: Path) -> None:
    config = load(find_layers(ROOT))
    run = runs_of(config, ["rnnsearch-50-star"])["rnnsearch-50-star"]
    expected = expected_rate(config, "rnnsearch-50-star")
    assert training_minutes(config, run, tmp_path) == time_limit(667_000 - 288_000, expected, 120)
    history = tmp_path / "models" / "rnnsearch-50" / "history.jsonl"
    history.parent.mkdir(parents=True)
    lines = [{"update": update, "train_nll": 1.0, "seconds": update / 100} for update in (1000, 200_000)]
    history.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    # the run that it continues ended early, by patience
    assert training_minutes(config, run, tmp_path) == time_limit(667_000 - 200_000, 360_000, 120)
    own = tmp_path / "state" / run.name / "history.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text('{"update": 660000, "train_nll": 1.0, "seconds": 6600}\n', encoding="utf-8")
    assert training_minutes(config, run, tmp_path) == time_limit(7_000, 360_000, 120)


@pytest.mark.parametrize(
    ("model", "counted"),
    # products of an update of 80 pairs of 27 words, counted by dispatch
    [("rnnsearch-50", 0.55e12), ("rnnencdec-50", 0.36e12)],
)
def test_operations_of_an_update_are_those_that_were_counted(model: str, counted: float) -> None:
    config = load(find_layers(ROOT))
    assert operations(config, model, 27) == pytest.approx(counted, rel=0.25)


@pytest.mark.parametrize(
    ("model", "milliseconds"),
    [("rnnsearch-50", 12.55), ("rnnencdec-50", 7.99)],  # at 31 positions
)
def test_before_a_rate_is_known_it_is_what_an_h100_took(model: str, milliseconds: float) -> None:
    card, slower = (
        load(find_layers(ROOT, pairs={"resources": {"gpu_teraflops": speed}})) for speed in (67, 8)
    )
    assert 3.6e6 / expected_rate(card, model) == pytest.approx(milliseconds, rel=0.02)
    assert expected_rate(card, model) == pytest.approx(67 / 8 * expected_rate(slower, model))
    stated = {"resources": {"updates_per_hour": {"rnnsearch": 1000, "rnnencdec": 1000}}}
    assert expected_rate(load(find_layers(ROOT, pairs=stated)), model) == 1000


def test_a_training_job_is_sent_again_for_each_time_slice() -> None:
    few, many = (load(find_layers(ROOT, pairs={"resources": {"train_hours": hours}})) for hours in (120, 4))
    runs = runs_of(few, list(few.models)).values()
    assert few.resources.train_attempts < training_retries(few, runs) < training_retries(many, runs)
