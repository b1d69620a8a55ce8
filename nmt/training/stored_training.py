"""A training in a store: it is begun, resumed or left as it is, and ends as a finished model."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click

from nmt.errors import UserError
from nmt.io import locks
from nmt.io.files import write_json
from nmt.settings.base import FlatSettings
from nmt.settings.training import ModelRun
from nmt.store.model_folder import FINAL_STATE, SUMMARY
from nmt.store.result_store import FACTS, TrainingStore, finished_folder
from nmt.training.checkpoint import export_model, list_checkpoints
from nmt.training.trainer import PastTheEnd, Trainer, open_data


@dataclass(frozen=True)
class TrainingFiles:
    """The files that a training reads.

    train, dev: folders of binarized text. base: folder of the model that it continues, with base_key, that model's key.
    init_from: folder of the model whose weights are the initial ones.
    """

    train: Path
    dev: Path
    source_vocabulary: Path
    target_vocabulary: Path
    base: Path | None
    base_key: str | None
    init_from: Path | None = None


def train_in_store(
    store: TrainingStore,
    name: str,
    run: ModelRun,
    files: TrainingFiles,
    facts: FlatSettings,
    if_locked: locks.IfLocked,
    deadline: float,
) -> Path:
    """Train a model to its end, and return its folder in the store.

    Args:
        store: where the training lies.
        name: the beginning of its folder's name, if it is new.
        run: its settings.
        files: what it reads.
        facts: all that decides it.
        if_locked: what to do while another process works on it.
        deadline: time of the monotonic clock at which it stops cleanly.

    Raises:
        Interrupted: it stopped before its end; its state is saved.
        StillLocked: another process worked on it until the deadline.
    """
    data = open_data(files.train, files.dev, files.source_vocabulary, files.target_vocabulary)
    for state in store.find_state_folders(name, facts, run):
        with locks.hold_folder(state, if_locked, deadline) as holding:
            trainer = Trainer(run, *data, state, files.base_key, files.init_from)
            # another process may have finished it while this one waited
            finished = finished_folder(state, trainer.key)
            if (finished / SUMMARY).is_file():
                return finished
            if not list_checkpoints(state) and (change := store.describe_changes(name, facts)):
                click.echo(f"nmt: {name}: a new training, since {change}", err=True)
            write_json(state / FACTS, facts)
            try:
                trainer.resume(files.base and files.base / FINAL_STATE)
            except PastTheEnd as past:
                click.echo(f"nmt: {name}: {past}; it is trained from the start, beside it", err=True)
                continue
            stopped_by = trainer.run(deadline - time.monotonic(), holding.is_lost)
            export_model(finished, trainer, (files.source_vocabulary, files.target_vocabulary), stopped_by)
            return finished
    raise UserError(f"{state}: holds another training; delete or rename it to start again")
