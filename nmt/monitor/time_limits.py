"""How long a training job asks a scheduler for: what its updates take at a known rate, cut into slices by a limit."""

from __future__ import annotations

import json
import math
from pathlib import Path

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


def progress_of(history: Path) -> tuple[int, float | None]:
    """Updates done and updates an hour, by a run's history; none done and no rate where there is none yet."""
    try:
        lines = history.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return 0, None
    for line in reversed(lines):
        try:
            entry = json.loads(line)
            return entry["update"], entry["update"] / entry["seconds"] * 3600
        except (ValueError, KeyError, ZeroDivisionError):
            continue  # a line that is being written
    return 0, None
