"""Small training runs, for tests."""

from pathlib import Path
from typing import Any

import pytest

from nmt.data.bitext import Bitext
from nmt.settings.training import ModelRun
from nmt.store.trained_model import SIDES
from nmt.training.history import HistoryLine, read_history
from nmt.training.trainer import Interrupted, Trainer
from nmt.training.training_files import TrainingFiles


def training_files(text: Bitext, **models: Path) -> TrainingFiles:
    """Return the files of a training; `text` is training and development text, with its vocabularies beside it."""
    source, target = (text.folder.with_name(f"{side}.tsv") for side in SIDES)
    return TrainingFiles(text.folder, text.folder, source, target, **models)


def make_trainer(run: ModelRun, text: Bitext, state_folder: Path, **models: Path) -> Trainer:
    """Return a trainer that has resumed; for the other arguments, see `training_files`."""
    trainer = Trainer(run, training_files(text, **models), state_folder)
    trainer.resume()
    return trainer


def train(run: ModelRun, text: Bitext, state_folder: Path) -> Trainer:
    """Return a trainer that has run to its end."""
    trainer = make_trainer(run, text, state_folder)
    trainer.run()
    return trainer


def stop_after(trainer: Trainer, last_update: int) -> None:
    """Run a trainer that is told to stop during an update."""
    make_update = trainer._update

    def update(batch: Any) -> None:
        make_update(batch)
        if trainer.counters.update == last_update:
            trainer.is_stopping.set()

    trainer._update = update  # type: ignore[method-assign]
    with pytest.raises(Interrupted):
        trainer.run()


def history_lines(trainer: Trainer, key: str = "update") -> list[HistoryLine]:
    """Return the lines of a history that have a key."""
    return [line for line in read_history(trainer.history.path) if key in line]
