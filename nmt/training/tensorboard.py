"""Writes the history of a run for TensorBoard (`training.tensorboard`): the same numbers as in history.jsonl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = "tensorboard"


class Board:
    """An event file in a folder. If a run resumes, TensorBoard drops the events after the checkpoint."""

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
