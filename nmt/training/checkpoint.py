"""Checkpoints in a state folder, and the final state of a run: each is one file with all tensors and counters.

A file is complete, checked by a checksum and never half-written (`nmt.store.tensors`). It cannot run code.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from torch import Tensor

from nmt.errors import UserError
from nmt.store.tensors import load_metadata, load_tensors, save_tensors

MOST = 2
"""Number of checkpoints in a state folder; older ones are deleted."""
NAME = re.compile(r"^checkpoint-(\d+)\.safetensors$")


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and counters that JSON can represent."""

    tensors: dict[str, Tensor]
    counters: dict[str, Any]


def save(folder: Path, update: int, checkpoint: Checkpoint) -> None:
    """Write the checkpoint after `update` updates, then delete all but the last two."""
    write(folder / f"checkpoint-{update:09d}.safetensors", checkpoint)
    for old in saved(folder)[:-MOST]:
        old.unlink()


def saved(folder: Path) -> list[Path]:
    """Return all checkpoints, oldest first."""
    return sorted(path for path in folder.glob("checkpoint-*") if NAME.match(path.name))


def remove_leftovers(folder: Path) -> None:
    """Remove the half-written files of a process that was killed while it wrote into the folder.

    The caller holds the lock of the folder, so nobody is writing. At the paper's sizes, each takes a gigabyte.
    """
    for leftover in folder.glob(".*.part.safetensors"):
        leftover.unlink(missing_ok=True)


def load_last(folder: Path) -> Checkpoint | None:
    """Load the newest undamaged checkpoint; None if none was saved. Damaged ones are reported and skipped.

    Raises UserError if all are damaged, so that days of training do not start again without the user's consent.
    """
    paths = saved(folder)
    for path in reversed(paths):
        try:
            return read(path)
        except UserError as error:
            click.echo(f"nmt: warning: {error}; going back to the previous checkpoint", err=True)
    if paths:
        raise UserError(f"{folder}: no intact checkpoint in it; delete or rename that folder to start again")
    return None


def write(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint or a final state."""
    save_tensors(path, checkpoint.tensors, {"record": json.dumps(checkpoint.counters)})


def read(path: Path) -> Checkpoint:
    """Read a file of `write`. A UserError names a file that is damaged or of another kind."""
    tensors, metadata = load_tensors(path), load_metadata(path)
    record = metadata.get("record", metadata.get("counters"))  # the name in checkpoints of former versions
    if record is None:
        raise UserError(f"{path}: no training state in it; expected a final_state.safetensors of `nmt train`")
    return Checkpoint(tensors, json.loads(record))
