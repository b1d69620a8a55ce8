"""How long a training job asks a scheduler for: what its updates take at a known rate, cut into slices by a limit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from nmt.config.runs import Run
from nmt.config.schema import Config
from nmt.training.history import reached

MARGIN = 1.25
"""A job that is given too little only comes back once more; one that asks for too much waits longer in the queue."""
OVERHEAD_MINUTES = 30
"""Starting, reading, and stopping five minutes early."""


def time_limit(updates: int, updates_per_hour: float, longest_hours: float) -> int:
    """Minutes that a job asks for: what the updates take with a margin, at most the longest limit; at least one."""
    minutes = OVERHEAD_MINUTES + MARGIN * 60 * max(updates, 0) / updates_per_hour
    return max(1, math.ceil(min(minutes, 60 * longest_hours)))


def time_slices(updates: int, updates_per_hour: float, longest_hours: float) -> int:
    """Jobs that a training run takes at most, should it be half as fast as it was said to be."""
    return math.ceil(2 * updates / updates_per_hour / longest_hours)


def training_minutes(config: Config, run: Run, folder: Path) -> int:
    """Minutes that a training job asks for: its updates left at the rate of the run, or at that of the settings."""
    updates = config.models[run.model].training.updates
    done = reached(folder / "state" / run.name / "history.jsonl")
    if done.updates_per_second is None and run.base:
        done = reached(folder / "models" / run.base / "history.jsonl")
    rate = 3600 * done.updates_per_second if done.updates_per_second else stated_rate(config, run)
    base = config.models[run.model].continue_from
    before = config.models[base].training.updates if base else 0
    return time_limit(updates - max(done.update, before), rate, config.resources.train_hours)


def training_retries(config: Config, runs: Iterable[Run], longest_hours: float | None = None) -> int:
    """How often a training job is sent again: its time slices, by twice the estimate, and those lost on the way.

    Args:
        config: the run's settings.
        runs: that may be trained.
        longest_hours: the longest time limit, where it is not that of the settings.
    """
    longest = longest_hours or config.resources.train_hours
    slices = (
        time_slices(config.models[run.model].training.updates, stated_rate(config, run), longest)
        for run in runs
    )
    return max(slices) + config.resources.train_attempts


def stated_rate(config: Config, run: Run) -> float:
    """Updates per hour that the settings expect of a run."""
    return config.resources.updates_per_hour[config.models[run.model].family]
