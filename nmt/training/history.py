"""Writes and reads the training history `history.jsonl`, one JSON object per line, and writes it for TensorBoard.

{"update": 1000, "epoch": 0.1, "train_nll": 93.4, "gradient_norm": 12.7, ..., "seconds": 620.1}
{"update": 1000, "epoch": 0.1, "dev_nll": 97.0, "seconds": 640.8}
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import read_file
from nmt.settings.training import Training

HistoryLine = dict[str, Any]
"""One line: an update with its measured values."""

RATE_LINES = 20
"""Number of intervals between lines of the history over which the rate is measured."""


class History:
    """The history of a run. A run that resumes from a checkpoint first drops the lines after the checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tensorboard: Any = None

    @property
    def size(self) -> int:
        """Number of bytes written so far, which a checkpoint stores."""
        return self.path.stat().st_size if self.path.exists() else 0

    def rewind(self, size: int) -> bool:
        """Drop all lines after the first `size` bytes, and return whether the history had these bytes."""
        if not self.path.exists():
            return size == 0
        content = self.path.read_bytes()[:size]
        complete_lines = content[: content.rfind(b"\n") + 1]
        os.truncate(self.path, len(complete_lines))
        return len(complete_lines) == size

    def open_tensorboard(self, update: int) -> None:
        """Also write all lines from now on for TensorBoard, which drops events after `update` of an earlier start."""
        from tensorboardX import SummaryWriter  # only runs with `tensorboard: true` need it

        # The suffix gives each start a file of its own, also two starts within a second.
        folder = self.path.with_name("tensorboard")
        self.tensorboard = SummaryWriter(str(folder), purge_step=update + 1, filename_suffix=f".{update}")

    def add(self, line: HistoryLine) -> None:
        """Append one line and sync it to the disk. In TensorBoard, each of its numbers is a point of a curve."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

        if self.tensorboard:
            for name, value in line.items():
                if name != "update" and isinstance(value, int | float):
                    self.tensorboard.add_scalar(name, value, line["update"])
            self.tensorboard.flush()


def read_history(path: Path, is_finished: bool = True) -> Iterator[HistoryLine]:
    """Yield the lines of a history, oldest first.

    Raises UserError at the first damaged line. If the run is not finished, damaged and incomplete lines are left out,
    and there may be no file yet.
    """
    if not is_finished and not path.exists():
        return
    for line_number, text in enumerate(read_file(path).splitlines(), start=1):
        try:
            line = json.loads(text)
            line["update"]  # an error if there is no such key
        except (ValueError, TypeError, KeyError, RecursionError):
            if is_finished:
                raise UserError(
                    f"{path}, line {line_number}: expected a JSON object with the key 'update'; make the file again"
                ) from None
        else:
            yield line


# --- the status of a run, as its history tells it ---------------------------------------------------------------------


@dataclass(frozen=True)
class DevScore:
    """The development set's scores after an update: NLL in nats per sentence, and BLEU if it is measured."""

    update: int
    nll: float
    bleu: float | None

    def sort_key(self, dev_score: str) -> float:
        """Return a number that is greater for a better score, by the measure that `training.dev_score` names."""
        return self.bleu if dev_score == "bleu" and self.bleu is not None else -self.nll


@dataclass(frozen=True)
class RunStatus:
    """How far a run has come: last update, epochs, rate over the last lines, last and best development score."""

    update: int = 0
    epoch: float | None = None
    updates_per_second: float | None = None
    dev: DevScore | None = None
    best: DevScore | None = None

    @property
    def updates_per_epoch(self) -> float | None:
        """Number of updates that make one pass over the text, or None before the first line of the history."""
        return self.update / self.epoch if self.epoch else None


def read_run_status(path: Path, dev_score: str = "nll") -> RunStatus:
    """Return the status of the run that writes a history. Damaged and incomplete lines do not count.

    dev_score: the measure by which the best development score is chosen (`training.dev_score`).
    """
    lines = list(read_history(path, is_finished=False))
    update_lines = [line for line in lines if "train_nll" in line]
    scores = [
        DevScore(line["update"], line["dev_nll"], line.get("dev_bleu")) for line in lines if "dev_nll" in line
    ]

    # A run that continues another one first scores the weights that it begins with. Its rate counts from there.
    start: HistoryLine = {"update": 0, "seconds": 0.0}
    if lines and "dev_nll" in lines[0]:
        start = lines[0]
    rate_lines = [start, *update_lines][-RATE_LINES - 1 :]
    last_line = rate_lines[-1]
    return RunStatus(
        update=last_line["update"],
        epoch=last_line.get("epoch"),
        updates_per_second=_measure_rate(rate_lines[0], last_line),
        dev=scores[-1] if scores else None,
        best=max(scores, key=lambda score: score.sort_key(dev_score), default=None),
    )


def _measure_rate(first_line: HistoryLine, last_line: HistoryLine) -> float | None:
    """Return the updates per second between two lines, or None if there were no updates."""
    updates: int = last_line["update"] - first_line["update"]
    if updates <= 0:
        return None
    seconds: float = last_line["seconds"] - first_line["seconds"]
    return updates / max(seconds, 1e-3)


def count_planned_updates(training: Training, updates_per_epoch: float | None) -> int:
    """Return the number of updates after which a run ends: `training.updates`, or fewer if `training.epochs` says so.

    updates_per_epoch: updates that make one pass over the text; None if this is not known yet.
    """
    if training.epochs is None or updates_per_epoch is None:
        return training.updates
    # Rounded to 6 digits first, since a product like 1.1 * 10 may be a little above the whole number.
    return min(training.updates, math.ceil(round(training.epochs * updates_per_epoch, 6)))
