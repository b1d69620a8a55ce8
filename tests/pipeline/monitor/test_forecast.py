"""Time limits of training jobs: from the rate, in slices; tests/pipeline/monitor/test_preflight.py has the hours."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import collect_runs
from pipeline.monitor.forecast import (
    count_training_retries,
    estimate_updates_per_hour,
    operations,
    request_training_minutes,
)
from tests.running import ROOT
from tests.trainings import finish, prepare_text, state_of


def limit(updates: int, updates_per_hour: float) -> int:
    """A quarter more than the time of the updates, and half an hour; 120 hours at most."""
    return min(120 * 60, math.ceil(30 + 75 * updates / updates_per_hour))


def test_training_asks_for_what_is_left_at_its_own_rate(tmp_path: Path) -> None:
    config = load_config(find_layers(ROOT))
    run = collect_runs(config, ["rnnsearch-50-star"])["rnnsearch-50-star"]
    expected = estimate_updates_per_hour(config, "rnnsearch-50-star")
    assert request_training_minutes(config, run, tmp_path) == limit(667_000 - 288_000, expected)
    prepare_text(config, tmp_path)
    history = finish(config, tmp_path, "rnnsearch-50") / "history.jsonl"
    lines = [{"update": update, "train_nll": 1.0, "seconds": update / 100} for update in (1000, 200_000)]
    for folder in (history.parent, history.parent.parent):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / history.name).write_text(text, encoding="utf-8")
    # the run that it continues ended early, by patience
    assert request_training_minutes(config, run, tmp_path) == limit(667_000 - 200_000, 360_000)
    own = state_of(config, tmp_path, run.name) / "history.jsonl"
    own.write_text('{"update": 660000, "train_nll": 1.0, "seconds": 6600}\n', encoding="utf-8")
    assert request_training_minutes(config, run, tmp_path) == limit(7_000, 360_000)


@pytest.mark.parametrize(
    ("model", "counted"),
    # products of an update of 80 pairs of 27 words, counted by dispatch
    [("rnnsearch-50", 0.55e12), ("rnnencdec-50", 0.36e12)],
)
def test_operations_of_an_update_are_those_that_were_counted(model: str, counted: float) -> None:
    config = load_config(find_layers(ROOT))
    assert operations(config, model, 27) == pytest.approx(counted, rel=0.25)


@pytest.mark.parametrize(
    ("model", "milliseconds"),
    [("rnnsearch-50", 13.45), ("rnnencdec-50", 8.37)],  # at 31 positions
)
def test_before_a_rate_is_known_it_is_what_an_h100_took(model: str, milliseconds: float) -> None:
    card, slower = (
        load_config(find_layers(ROOT, pairs={"resources": {"gpu_teraflops": speed}})) for speed in (67, 8)
    )
    assert 3.6e6 / estimate_updates_per_hour(card, model) == pytest.approx(milliseconds, rel=0.02)
    assert estimate_updates_per_hour(card, model) == pytest.approx(
        67 / 8 * estimate_updates_per_hour(slower, model)
    )
    stated = {"resources": {"updates_per_hour": {"rnnsearch": 1000, "rnnencdec": 1000}}}
    assert estimate_updates_per_hour(load_config(find_layers(ROOT, pairs=stated)), model) == 1000


def test_a_training_job_is_sent_again_for_each_time_slice_of_half_the_rate() -> None:
    few, many = (
        load_config(find_layers(ROOT, pairs={"resources": {"train_hours": hours}})) for hours in (120, 0.1)
    )
    runs = [run for name, run in collect_runs(few, list(few.models)).items() if name == "rnnsearch-50"]
    hours = 288_000 / estimate_updates_per_hour(few, "rnnsearch-50")
    assert count_training_retries(few, runs) - few.resources.train_attempts == 1
    assert count_training_retries(many, runs) - many.resources.train_attempts == math.ceil(2 * hours / 0.1)
