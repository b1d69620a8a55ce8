"""Checkpoints and best weights in the state folder of a run, and the final state of a finished one.

    checkpoint-000000040.safetensors   all tensors and counters after update 40
    best-000000030.safetensors         the weights with the best development score, those after update 30

Every file is written atomically and has a checksum (`nmt.store.tensors`). It cannot run code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from nmt.errors import UserError
from nmt.io.messages import print_warning
from nmt.store.tensors import load_metadata, load_tensors, save_tensors

KEPT_CHECKPOINTS = 2
"""Number of checkpoints in a state folder; older ones are deleted."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run.

    tensors: weights, optimizer and update statistics by name. record: counters, and what decides the weights, as JSON.
    """

    tensors: dict[str, Tensor]
    record: dict[str, Any]


def save_checkpoint(folder: Path, update: int, checkpoint: Checkpoint) -> None:
    """Write the checkpoint after `update` updates, then delete all but the newest ones."""
    path = folder / f"checkpoint-{update:09d}.safetensors"
    save_tensors(path, checkpoint.tensors, {"record": json.dumps(checkpoint.record)})
    for old_path in list_checkpoints(folder)[:-KEPT_CHECKPOINTS]:
        old_path.unlink()


def list_checkpoints(folder: Path) -> list[Path]:
    """Return the files of all checkpoints, oldest first."""
    return sorted(folder.glob("checkpoint-*.safetensors"))


def load_newest_checkpoint(folder: Path) -> Checkpoint | None:
    """Load the newest intact checkpoint, or return None if there is no checkpoint.

    Damaged checkpoints are reported and skipped. Raises UserError if all are damaged, so that days of training do not
    start again without the user's consent.
    """
    paths = list_checkpoints(folder)
    for path in reversed(paths):
        try:
            return read_checkpoint(path)
        except UserError as error:
            print_warning(f"{error}; this checkpoint is skipped")
    if paths:
        raise UserError(f"{folder}: no intact checkpoint in it; delete or rename that folder to start again")
    return None


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint or a final state. Raises UserError if it is damaged or a different kind of file."""
    tensors, metadata = load_tensors(path), load_metadata(path)
    if "record" not in metadata:
        raise UserError(f"{path}: no training state in it; expected a final_state.safetensors of `nmt train`")
    return Checkpoint(tensors, json.loads(metadata["record"]))


def best_weights_path(folder: Path, best_update: int) -> Path:
    """Return the path of the best weights, those after update `best_update`."""
    return folder / f"best-{best_update:09d}.safetensors"


def delete_old_best_weights(folder: Path, best_update: int) -> None:
    """Delete the files of best weights that no checkpoint names any more.

    Each new best comes with a checkpoint. So the two kept checkpoints name the two newest files, or the current best.
    """
    paths = sorted(folder.glob("best-*.safetensors"))
    for path in paths[:-KEPT_CHECKPOINTS]:
        if path != best_weights_path(folder, best_update):
            path.unlink()
