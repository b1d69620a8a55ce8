"""Writes and reads the training history `history.jsonl`, one JSON object per line, and writes it for TensorBoard."""

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

WINDOWS = 20
"""Number of lines of the history for computing the rate."""


class History:
    """The history of a run. A run that resumes from a checkpoint first drops the lines written after it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def size(self) -> int:
        """Number of bytes written so far, which a checkpoint stores."""
        return self.path.stat().st_size if self.path.exists() else 0

    def rewind(self, size: int) -> None:
        """Drop everything after the first `size` bytes."""
        if self.path.exists():
            os.truncate(self.path, size)

    def add(self, record: HistoryLine) -> None:
        """Append one line and sync it to the disk."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read_history(path: Path, finished: bool = True) -> Iterator[HistoryLine]:
    """Yield the lines of a history, oldest first. A `UserError` names the first damaged line.

    If the history is not `finished`, damaged and incomplete lines are left out, and there may be no file.
    """
    if not finished and not path.exists():
        return
    for number, line in enumerate(read_file(path).splitlines(), start=1):
        try:
            record = json.loads(line)
            record["update"]
        except (ValueError, TypeError, KeyError, RecursionError):
            if not finished:
                continue
            expected = "expected a JSON object with the key 'update'"
            raise UserError(f"{path}, line {number}: {expected}; make the file again") from None
        yield record


# --- for TensorBoard ------------------------------------------------------------------------------------------------

TENSORBOARD_FOLDER = "tensorboard"


class TensorBoardWriter:
    """The same numbers as events in a folder. If a run resumes, TensorBoard drops the events after the checkpoint."""

    def __init__(self, folder: Path, update: int) -> None:
        from tensorboardX import SummaryWriter  # training does without, unless it is asked for

        # a file of its own for each start, also for two within a second
        self.writer = SummaryWriter(str(folder), purge_step=update + 1, filename_suffix=f".{update}")

    def add(self, record: dict[str, Any]) -> None:
        """Add one line of the history. Each of its numbers is a point of a curve over updates."""
        for name, value in record.items():
            if name != "update" and isinstance(value, int | float):
                self.writer.add_scalar(name, value, record["update"])
        self.writer.flush()

    def close(self) -> None:
        """Write the remaining events and close the file."""
        self.writer.close()


# --- what a history tells ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DevScore:
    """The development set's scores after an update: NLL in nats per sentence, and BLEU if it is measured."""

    update: int
    nll: float
    bleu: float | None

    def quality(self, dev_score: str) -> float:
        """Return a number that is greater for a better score, by the measure that `training.dev_score` names."""
        return self.bleu if dev_score == "bleu" and self.bleu is not None else -self.nll


@dataclass(frozen=True)
class RunStatus:
    """The state of a run in its history: last update, epochs, rate over the last lines, development scores."""

    update: int = 0
    epoch: float | None = None
    updates_per_second: float | None = None
    dev: DevScore | None = None
    best: DevScore | None = None


def read_run_status(path: Path, dev_score: str = "nll") -> RunStatus:
    """Return the state of the run that writes a history. Damaged and incomplete lines do not count."""
    lines = [*read_history(path, finished=False)]
    scores = [
        DevScore(line["update"], line["dev_nll"], line.get("dev_bleu"))
        for line in lines
        if line.get("dev_nll") is not None
    ]
    dev = scores[-1] if scores else None
    best = max(scores, key=lambda score: score.quality(dev_score), default=None)
    logged = [line for line in lines if "train_nll" in line][-WINDOWS - 1 :]
    if not logged:
        return RunStatus(dev=dev, best=best)
    last, first = logged[-1], logged[0] if len(logged) > 1 else {"update": 0, "seconds": 0.0}
    seconds = last["seconds"] - first["seconds"]
    rate = (last["update"] - first["update"]) / seconds if seconds > 0 else None
    return RunStatus(last["update"], last.get("epoch"), rate, dev, best)


def count_planned_updates(training: Training, updates: int, epochs: float | None) -> int:
    """Return the last update of a run: by `training.updates`, or earlier by `training.epochs`.

    `updates` updates make `epochs` passes over the text; None or 0 if this is not known yet.
    """
    if training.epochs is None or not epochs:
        return training.updates
    # Rounded first: division may leave a last digit above a whole number.
    return min(training.updates, math.ceil(round(training.epochs * updates / epochs, 6)))
