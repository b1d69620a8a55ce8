"""Forecasts of hours and disk space, and time limits of training jobs."""

import json
import math
from pathlib import Path

import pytest

from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import collect_runs
from pipeline.config.schema import Config
from pipeline.monitor import forecast
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


def test_training_time_limit(tmp_path: Path) -> None:
    config = paper_config()
    run = collect_runs(config, [RUN])[RUN]
    rate = forecast.estimate_updates_per_hour(config, RUN)
    assert forecast.request_training_minutes(config, run, tmp_path) == expected_minutes(
        667_000 - 288_000, rate
    )
    prepare_text(config, tmp_path)

    # the run that it continues ended early, by patience
    history = finish(config, tmp_path, BASE) / "history.jsonl"
    for folder in (history.parent, history.parent.parent):
        write_history(folder / history.name, 1 / 100, 1000, 200_000)
    assert forecast.request_training_minutes(config, run, tmp_path) == expected_minutes(467_000, 360_000)

    write_history(state_of(config, tmp_path, RUN) / "history.jsonl", 1 / 100, 660_000)
    assert forecast.request_training_minutes(config, run, tmp_path) == expected_minutes(7_000, 360_000)


def test_hours_of_measured_and_other_runs(tmp_path: Path) -> None:
    config = paper_config()
    runs = list(config.use.models)

    # Table 2's updates at the rate of an H100; RNNsearch-50* continues after 288,000 updates
    times = {time.run: time for time in forecast.estimate_training_times(config, tmp_path, runs)}
    assert {time.source for time in times.values()} == {forecast.ASSUMED_RATE}
    assert sum(time.hours for time in times.values()) == pytest.approx(6.8, abs=0.2)
    assert times[RUN].updates == 667_000 - 288_000
    parallel_hours = forecast.estimate_parallel_hours(config, times.values())
    assert parallel_hours == pytest.approx(times[BASE].hours + times[RUN].hours)

    # measured at 10 updates a second; those of another limit of length are not like it
    prepare_text(config, tmp_path)
    write_history(state_of(config, tmp_path, BASE) / "history.jsonl", 1 / 10, 1000, 2000)
    times = {time.run: time for time in forecast.estimate_training_times(config, tmp_path, runs)}
    assert times[BASE].hours == pytest.approx(286_000 / 36_000)
    assert times[RUN].source == forecast.MEASURED_RATE
    assert times["rnnsearch-30"].source == forecast.ASSUMED_RATE
    description = forecast.describe_training_times(config, times.values())
    assert f"({forecast.ASSUMED_RATE}; {forecast.MEASURED_RATE})" in description


# products of an update of 80 pairs of 27 words, counted by dispatch; milliseconds on an H100 at 31 positions
@pytest.mark.parametrize(
    ("model", "operations", "milliseconds"),
    [("rnnsearch-50", 0.55e12, 13.45), ("rnnencdec-50", 0.36e12, 8.37)],
)
def test_assumed_rate_matches_measurement(model: str, operations: float, milliseconds: float) -> None:
    config = paper_config(gpu_teraflops=67)
    assert forecast.count_operations(config, model, 27) == pytest.approx(operations, rel=0.25)
    rate = forecast.estimate_updates_per_hour(config, model)
    assert 3.6e6 / rate == pytest.approx(milliseconds, rel=0.02)
    slow_rate = forecast.estimate_updates_per_hour(paper_config(gpu_teraflops=8), model)
    assert rate == pytest.approx(67 / 8 * slow_rate)
    configured = paper_config(updates_per_hour={"rnnsearch": 1000, "rnnencdec": 1000})
    assert forecast.estimate_updates_per_hour(configured, model) == 1000


@pytest.mark.parametrize("train_hours", [120, 0.1])
def test_retries_cover_half_the_rate(train_hours: float) -> None:
    config = paper_config(train_hours=train_hours)
    runs = [collect_runs(config, [BASE])[BASE]]
    hours = 288_000 / forecast.estimate_updates_per_hour(config, BASE)
    time_limits = math.ceil(2 * hours / train_hours)
    assert forecast.count_training_retries(config, runs) == time_limits + config.resources.train_attempts
