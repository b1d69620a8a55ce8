"""Checkpoints in a state folder: complete, checked by a checksum, and never half-written.

A checkpoint has two files: `checkpoint-000012000.safetensors` with all tensors and counters, and a JSON file of the
same name with its SHA-256. The JSON file is written last; without it, a checkpoint does not count. Neither file can run
code.
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
from nmt.io.files import read_json, sha256, write_json
from nmt.model.tensors import load_metadata, load_tensors, save_tensors

MOST = 2
"""Number of checkpoints in a state folder; older ones are deleted."""
NAME = re.compile(r"^checkpoint-(\d+)\.json$")


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and counters that JSON can represent."""

    tensors: dict[str, Tensor]
    counters: dict[str, Any]


def save(folder: Path, update: int, checkpoint: Checkpoint) -> None:
    """Write the checkpoint after `update` updates, then delete all but the last two."""
    tensors = folder / f"checkpoint-{update:09d}.safetensors"
    save_tensors(tensors, checkpoint.tensors, {"counters": json.dumps(checkpoint.counters)})
    write_json(tensors.with_suffix(".json"), {"tensors": tensors.name, "sha256": sha256(tensors)})
    for old in saved(folder)[:-MOST]:
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)


def saved(folder: Path) -> list[Path]:
    """Return the records of all checkpoints, oldest first."""
    return sorted(path for path in folder.glob("checkpoint-*.json") if NAME.match(path.name))


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
    records = saved(folder)
    for record_path in reversed(records):
        try:
            return load(record_path)
        except UserError as error:
            click.echo(f"nmt: warning: {error}; going back to the previous checkpoint", err=True)
    if records:
        raise UserError(f"{folder}: no intact checkpoint in it; delete or rename that folder to start again")
    return None


def load(record_path: Path) -> Checkpoint:
    """Load a checkpoint by its record. A UserError says what is wrong with it."""
    record = read_json(record_path)
    expected = record.get("sha256") if isinstance(record, dict) else None
    if not isinstance(expected, str):
        raise UserError(f"{record_path}: damaged (no checksum in it)")
    tensors = record_path.with_suffix(".safetensors")
    if not tensors.exists():
        raise UserError(f"{tensors}: missing, though {record_path.name} names it")
    found = sha256(tensors)
    if found != expected:
        raise UserError(f"{tensors}: damaged (sha256 {found[:12]}..., expected {expected[:12]}...)")
    return Checkpoint(load_tensors(tensors), json.loads(load_metadata(tensors)["counters"]))
