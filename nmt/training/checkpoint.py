"""What a run writes: checkpoints in its state folder, its final state, and the folder of the finished model.

A checkpoint or a final state is one file with all tensors and counters. It is complete, checked by a checksum and never
half-written (`nmt.store.tensors`). It cannot run code.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import torch
from torch import Tensor

from nmt.backend.device import device_name
from nmt.errors import UserError
from nmt.io.files import atomic_path, sha256, write_json
from nmt.io.system import describe_environment
from nmt.store.model_folder import (
    FINAL_STATE,
    HISTORY,
    SETTINGS,
    SOURCE_VOCABULARY,
    SUMMARY,
    TARGET_VOCABULARY,
    WEIGHTS,
)
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from nmt.store.trained_model import SIDES

if TYPE_CHECKING:
    from nmt.training.trainer import Trainer

KEPT_CHECKPOINTS = 2
"""Number of checkpoints in a state folder; older ones are deleted."""
NAME = re.compile(r"^checkpoint-(\d+)\.safetensors$")


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and counters that JSON can represent."""

    tensors: dict[str, Tensor]
    counters: dict[str, Any]


def save_checkpoint(folder: Path, update: int, checkpoint: Checkpoint) -> None:
    """Write the checkpoint after `update` updates, then delete all but the last two."""
    write_checkpoint(folder / f"checkpoint-{update:09d}.safetensors", checkpoint)
    for old in list_checkpoints(folder)[:-KEPT_CHECKPOINTS]:
        old.unlink()


def list_checkpoints(folder: Path) -> list[Path]:
    """Return all checkpoints, oldest first."""
    return sorted(path for path in folder.glob("checkpoint-*") if NAME.match(path.name))


def load_newest_checkpoint(folder: Path) -> Checkpoint | None:
    """Load the newest undamaged checkpoint; None if none was saved. Damaged ones are reported and skipped.

    Raises UserError if all are damaged, so that days of training do not start again without the user's consent.
    """
    paths = list_checkpoints(folder)
    for path in reversed(paths):
        try:
            return read_checkpoint(path)
        except UserError as error:
            click.echo(f"nmt: warning: {error}; going back to the previous checkpoint", err=True)
    if paths:
        raise UserError(f"{folder}: no intact checkpoint in it; delete or rename that folder to start again")
    return None


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint or a final state."""
    save_tensors(path, checkpoint.tensors, {"record": json.dumps(checkpoint.counters)})


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a file of `write`. A UserError names a file that is damaged or of another kind."""
    tensors, metadata = load_tensors(path), load_metadata(path)
    if "record" not in metadata:
        raise UserError(f"{path}: no training state in it; expected a final_state.safetensors of `nmt train`")
    return Checkpoint(tensors, json.loads(metadata["record"]))


# --- the finished model -----------------------------------------------------------------------------------------------


def export_model(
    folder: Path, trainer: Trainer, vocabularies: tuple[Path, Path], stopped_by: str
) -> dict[str, Any]:
    """Write the model folder of a finished run, the summary last. Return the summary."""
    trainer.check_may_write()
    write_checkpoint(folder / FINAL_STATE, Checkpoint(trainer.state_tensors(), trainer.record()))
    trainer.load_chosen_weights()
    made_with = {side: trainer.data[f"{side}_vocabulary"] for side in SIDES}
    metadata = {"vocabularies": json.dumps(made_with, sort_keys=True)}
    save_tensors(folder / WEIGHTS, trainer.model.state_dict(), metadata)
    for vocabulary, name in zip(vocabularies, (SOURCE_VOCABULARY, TARGET_VOCABULARY), strict=True):
        copy(vocabulary, folder / name)
    copy(trainer.history.path, folder / HISTORY)
    write_json(folder / SETTINGS, trainer.run_settings.model_dump())
    summary = {**summarize_training(trainer, stopped_by), "weights": sha256(folder / WEIGHTS)}
    trainer.check_may_write()  # a process that was suspended while it scored may have lost the folder
    write_json(folder / SUMMARY, summary)
    return summary


def copy(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)


def summarize_training(trainer: Trainer, stopped_by: str) -> dict[str, Any]:
    """Return the values for Table 2. NLLs are in nats per sentence, for the weights that the model keeps."""
    run, counters = trainer.run_settings, trainer.counters
    return {
        "model": run.model,
        "label": run.label,
        "model_type": run.model_type,
        "seed": run.seed,
        "max_words": run.max_words,
        "continue_from": run.continue_from,
        "updates": counters.update,
        "epochs": trainer.epochs(),
        "hours": counters.seconds / 3600,
        "device": device_name(trainer.device),
        "matmul_library": trainer.model.backend.matmul_library,
        "stopped_by": stopped_by,
        "best_update": counters.best_update if trainer.settings.keep == "best" else None,
        "train_nll": trainer.train_nll(),
        "dev_nll": trainer.dev_nll(),
        "dev_sentences": run.training.dev_sentences,
        "train_pairs": len(trainer.train),
        "parameters": sum(weight.numel() for weight in trainer.model.parameters()),
        "optimizer": run.training.optimizer,
        "batch_size": run.training.batch_size,
        "hidden_units": run.architecture.hidden_units,
        "embedding_size": run.architecture.embedding_size,
        "torch": torch.__version__,
        "data": trainer.data,
        "key": trainer.key,
        "made_with": describe_environment(),
    }
