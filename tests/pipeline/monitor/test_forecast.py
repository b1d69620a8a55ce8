"""Forecasts of hours and disk space, and time limits of training jobs."""

import json
import math
from pathlib import Path

import pytest

from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import collect_runs
from pipeline.config.schema import Config
from pipeline.monitor import forecast
from pipeline.monitor.run_state import RunStates
from tests.running import ROOT
from tests.trainings import finish, prepare_text, state_of

RUN, BASE = "rnnsearch-50-star", "rnnsearch-50"


def paper_config(**resources: object) -> Config:
    return load_config(find_layers(ROOT, pairs={"resources": resources}))


def write_history(path: Path, seconds_per_update: float, *updates: int) -> None:
    lines = [
        {"update": update, "train_nll": 1.0, "seconds": update * seconds_per_update} for update in updates
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def expected_minutes(updates: int, updates_per_hour: float) -> int:
    """A quarter more than the time of the updates, and half an hour; 120 hours at most."""
    return min(120 * 60, math.ceil(30 + 75 * updates / updates_per_hour))


def test_training_time_limit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = paper_config()
    run = collect_runs(config, [RUN])[RUN]
    assert forecast.request_training_minutes(config, run) == 120 * 60
    configured = paper_config(updates_per_hour={"rnnsearch": 10_000})
    minutes = forecast.request_training_minutes(configured, run)
    assert minutes == expected_minutes(667_000 - 288_000, 10_000)
    prepare_text(config, tmp_path)

    # the run that it continues ended early, by patience
    history = finish(config, tmp_path, BASE) / "history.jsonl"
    for folder in (history.parent, history.parent.parent):
        write_history(folder / history.name, 1 / 100, 1000, 200_000)
    assert forecast.request_training_minutes(config, run) == expected_minutes(467_000, 360_000)

    write_history(state_of(config, tmp_path, RUN) / "history.jsonl", 1 / 100, 660_000)
    assert forecast.request_training_minutes(config, run) == expected_minutes(7_000, 360_000)


def test_hours_of_measured_and_other_runs(tmp_path):
    # rates of the settings; RNNsearch-50* continues after 288,000 updates
    config = paper_config(updates_per_hour={"rnnsearch": 20_000})
    states = RunStates(config, tmp_path)
    hours = forecast.estimate_training_hours(states, config.use.models)
    parallel_hours = forecast.estimate_parallel_hours(states, hours)
    assert parallel_hours == pytest.approx((288_000 + 379_000) / 20_000)
    assert hours["rnnencdec-50"] is None
    assert "unknown" in forecast.describe_hours(states, hours)

    # measured at 10 updates a second; those of another limit of length are not like it
    prepare_text(config, tmp_path)
    write_history(state_of(config, tmp_path, BASE) / "history.jsonl", 1 / 10, 1000, 2000)
    states = RunStates(config, tmp_path)
    assert forecast.estimate_run_hours(states, BASE) == pytest.approx(286_000 / 36_000)
    assert forecast.estimate_run_hours(states, RUN) == pytest.approx(379_000 / 36_000)
    assert forecast.estimate_run_hours(states, "rnnsearch-30") == hours["rnnsearch-30"]


@pytest.mark.parametrize("train_hours", [120, 0.1])
def test_retries_cover_half_the_rate(train_hours, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = paper_config(train_hours=train_hours, updates_per_hour={"rnnsearch": 20_000})
    runs = [collect_runs(config, [BASE])[BASE]]
    time_limits = math.ceil(2 * 288_000 / 20_000 / train_hours)
    retries = forecast.count_training_retries(config, runs)
    assert retries == time_limits + config.resources.train_attempts


@pytest.mark.parametrize(
    ("change", "updates"),
    [
        ({"training": {"learning_rate": 0.5}}, 288_000),
        ({"vocabulary": {"words": 400}}, 288_000),
        ({"models": {BASE: {"training": {"updates": 1000}}}}, 1000),
    ],
)
def test_former_training_is_no_part_of_a_new_one(tmp_path, change, updates):
    rates = {"resources": {"updates_per_hour": {"rnnsearch": 1000}}}
    config = load_config(find_layers(ROOT, pairs=rates))
    prepare_text(config, tmp_path)
    for folder in (finish(config, tmp_path, BASE).parent, tmp_path / "models" / BASE):
        folder.mkdir(parents=True, exist_ok=True)
        write_history(folder / "history.jsonl", 1 / 100, 288_000)

    states = RunStates(load_config(find_layers(ROOT, pairs=change | rates)), tmp_path)
    assert forecast.estimate_run_hours(states, BASE) == updates / 1000
    assert states[BASE].folder is None  # so `nmt status` does not show it, either
