"""A training in a store: it is started or resumed, and ends as a finished model."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.errors import UserError
from nmt.io import locks
from nmt.io.files import write_json
from nmt.settings.base import FlatSettings, describe_differences
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SUMMARY
from nmt.store.training_store import TRAINING_INPUTS, TrainingStore, finished_model_folder
from nmt.training.checkpoint import list_checkpoints
from nmt.training.export import export_model
from nmt.training.trainer import PastTheEnd, Trainer
from nmt.training.training_files import TrainingFiles


def train_in_store(
    store: TrainingStore,
    name: str,
    run: ModelRun,
    files: TrainingFiles,
    training_inputs: FlatSettings,
    if_locked: locks.IfLocked,
    deadline: float,
) -> Path:
    """Train a model to its end, and return its folder in the store.

    Args:
        name: the name of the model. The name of a new folder begins with it.
        training_inputs: the settings and checksums that the weights depend on (`collect_training_inputs`).
        if_locked: what to do while another process runs the same training.
        deadline: time of the monotonic clock at which the training stops cleanly.

    Raises:
        Interrupted: the training has stopped before its end. Its state is saved.
        StillLocked: another process has run the training until the deadline.
    """
    state_folders = store.find_state_folders(name, training_inputs, run)
    for state_folder in state_folders:
        with locks.hold_folder(state_folder, if_locked, deadline) as lock:
            # 1. while this process waited for the lock, the files may have changed
            trainer = Trainer(run, files, state_folder)
            changes = describe_differences(training_inputs, trainer.training_inputs)
            if changes:
                raise UserError(f"{name}: {changes} since this command has started; run it again")

            # or another process may have finished the training
            model_folder = finished_model_folder(state_folder, trainer.key)
            if (model_folder / SUMMARY).is_file():
                return model_folder

            # 2. if this training is new, but there was an earlier one with its name, say which inputs have changed
            if not any(map(list_checkpoints, state_folders)):
                changes = store.describe_changes(name, training_inputs)
                if changes:
                    click.echo(f"nmt: {name}: a new training, because {changes}", err=True)
            write_json(state_folder / TRAINING_INPUTS, training_inputs)

            # 3. resume the training in this folder. If it has gone on beyond the end that the settings ask for, leave
            # it as it is, and train from the start in the next folder.
            try:
                trainer.resume()
            except PastTheEnd as error:
                click.echo(f"nmt: {name}: {error}; training from the start in a new folder", err=True)
                continue

            # 4. train to the end
            trainer.is_lock_lost = lock.is_lost
            stop_reason = trainer.run(deadline)
            export_model(model_folder, trainer, stop_reason)
            return model_folder
    # somebody has put a different training into the second folder, which is for this end alone
    raise UserError(f"{state_folder}: holds a different training; delete or rename it to start again")
