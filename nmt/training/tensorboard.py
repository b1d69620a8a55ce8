"""The history of a run for TensorBoard (`training.tensorboard`): the same numbers as history.jsonl, as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = "tensorboard"


class Board:
    """An event file in a folder; after a restart TensorBoard forgets what came after the checkpoint resumed from."""

    def __init__(self, folder: Path, update: int) -> None:
        from tensorboardX import SummaryWriter  # training does without, unless it is asked for

        # a file of its own for each start, also for two within a second
        self.writer = SummaryWriter(str(folder), purge_step=update + 1, filename_suffix=f".{update}")

    def add(self, record: dict[str, Any]) -> None:
        """One line of the history: a curve for each number, over updates."""
        for name, value in record.items():
            if name != "update" and isinstance(value, int | float):
                self.writer.add_scalar(name, value, record["update"])
        self.writer.flush()

    def close(self) -> None:
        """Write what is left and close the file."""
        self.writer.close()
