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
from nmt.training.checkpoint import list_checkpoints
from nmt.training.export import export_model
from nmt.training.trainer import PastTheEnd, Trainer, open_data


@dataclass(frozen=True)
class TrainingFiles:
    """The files that a training reads.

    train, dev: folders of binarized text.
    source_vocabulary, target_vocabulary: files of the vocabularies.
    base, base_key: folder and key of the finished model that the training continues.
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
        name: the first part of its folder's name, if it is new.
        run: its settings.
        files: what it reads.
        facts: all that decides it.
        if_locked: what to do while another process works on it.
        deadline: time of the monotonic clock at which it stops cleanly.

    Raises:
        Interrupted: it stopped before its end; its state is saved.
        StillLocked: another process worked on it until the deadline.
    """
    train, dev, vocabularies = open_data(
        files.train, files.dev, files.source_vocabulary, files.target_vocabulary
    )
    for state_folder in store.find_state_folders(name, facts, run):
        with locks.hold_folder(state_folder, if_locked, deadline) as lock:
            # 1. another process may have finished the training while this one waited for the lock
            trainer = Trainer(run, train, dev, vocabularies, state_folder, files.base_key, files.init_from)
            model_folder = finished_folder(state_folder, trainer.key)
            if (model_folder / SUMMARY).is_file():
                return model_folder

            # 2. say why a new training begins, if the name has had another one
            if not list_checkpoints(state_folder):
                changes = store.describe_changes(name, facts)
                if changes:
                    click.echo(f"nmt: {name}: a new training, since {changes}", err=True)
            write_json(state_folder / FACTS, facts)

            # 3. resume; a training that has gone on beyond this end stays, and the next folder is for this end alone
            predecessor = None if files.base is None else files.base / FINAL_STATE
            try:
                trainer.resume(predecessor)
            except PastTheEnd as error:
                click.echo(f"nmt: {name}: {error}; it is trained from the start, beside it", err=True)
                continue

            # 4. train to the end
            stop_reason = trainer.run(deadline - time.monotonic(), lock.is_lost)
            vocabulary_files = (files.source_vocabulary, files.target_vocabulary)
            export_model(model_folder, trainer, vocabulary_files, stop_reason)
            return model_folder
    raise UserError(f"{state_folder}: holds another training; delete or rename it to start again")
