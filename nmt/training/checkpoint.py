"""Checkpoints in a state folder: complete, checked by a sum, and never half-written.

A checkpoint is two files: `checkpoint-000012000.safetensors` with every tensor and the counters, and, written after it,
a JSON file of the same name with the sum of the first. Without the second the first does not count. Nothing in either
can run code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from nmt.errors import UserError
from nmt.io.files import allow_by_umask, atomic_path, read_json, sha256, write_json

KEPT = 2
NAME = re.compile(r"^checkpoint-(\d+)\.json$")


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and counters that JSON can hold."""

    tensors: dict[str, Tensor]
    counters: dict[str, Any]


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all; a UserError says why it could not be written."""
    with atomic_path(path) as temporary, write_errors(path):
        save_file(
            {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
            temporary,
            metadata,
        )
        allow_by_umask(temporary)  # the library lets nobody but the owner read its files


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """The library reports a full disk as an error of its own kind."""
    try:
        yield
    except SafetensorError as error:
        raise UserError(f"{path}: could not be written ({error}); make room and run again") from None


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file; a UserError names one that is damaged or missing."""
    try:
        return load_file(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected the weights of a model") from None
    except SafetensorError as error:
        raise UserError(f"{path}: damaged ({error}); make or fetch it again") from None


def digest(tensors: dict[str, Tensor]) -> str:
    """SHA-256 of names and contents."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(name.encode())
        content = tensors[name].detach().cpu().contiguous().view(-1).view(torch.uint8)
        total.update(content.numpy().data)
    return total.hexdigest()


def load_metadata(path: Path) -> dict[str, str]:
    """What `save_tensors` wrote beside the tensors; empty if nothing."""
    with safe_open(path, framework="pt") as file:
        return file.metadata() or {}


def save(folder: Path, update: int, checkpoint: Checkpoint) -> None:
    """Add the checkpoint after `update` updates, then drop all but the last two."""
    tensors = folder / f"checkpoint-{update:09d}.safetensors"
    save_tensors(tensors, checkpoint.tensors, {"counters": json.dumps(checkpoint.counters)})
    write_json(tensors.with_suffix(".json"), {"tensors": tensors.name, "sha256": sha256(tensors)})
    for old in saved(folder)[:-KEPT]:
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)


def saved(folder: Path) -> list[Path]:
    """The records of all checkpoints, oldest first."""
    return sorted(path for path in folder.glob("checkpoint-*.json") if NAME.match(path.name))


def load_last(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that is whole, or None if none was saved; damaged ones are named and passed over.

    Raises UserError if all are damaged: nobody wants days of training to begin anew without being asked.
    """
    records = saved(folder)
    for record_path in reversed(records):
        try:
            return load(record_path)
        except UserError as error:
            click.echo(f"nmt: warning: {error}; going back to the checkpoint before it", err=True)
    if records:
        raise UserError(f"{folder}: no checkpoint in it is whole; move that folder away to train anew")
    return None


def load(record_path: Path) -> Checkpoint:
    """One checkpoint by its record; a UserError says what is wrong with it."""
    record = read_json(record_path)
    expected = record.get("sha256") if isinstance(record, dict) else None
    if not isinstance(expected, str):
        raise UserError(f"{record_path}: damaged (no sum in it)")
    tensors = record_path.with_suffix(".safetensors")
    if not tensors.exists():
        raise UserError(f"{tensors}: missing, though {record_path.name} names it")
    found = sha256(tensors)
    if found != expected:
        raise UserError(f"{tensors}: damaged (sha256 {found[:12]}..., expected {expected[:12]}...)")
    return Checkpoint(load_tensors(tensors), json.loads(load_metadata(tensors)["counters"]))
