"""Tensors in safetensors files: written whole or not at all, and nothing in them can run code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from nmt.errors import UserError
from nmt.io.files import allow_by_umask, atomic_path, refuse_special


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
    refuse_special(path)
    if path.is_dir():
        raise UserError(f"{path}: a folder, expected a safetensors file")
    try:
        return load_file(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected the weights of a model") from None
    except SafetensorError as error:
        raise UserError(f"{path}: damaged ({error}); make or fetch it again") from None


def load_metadata(path: Path) -> dict[str, str]:
    """What `save_tensors` wrote beside the tensors; empty if nothing."""
    with safe_open(path, framework="pt") as file:
        return file.metadata() or {}


def digest(tensors: dict[str, Tensor]) -> str:
    """SHA-256 of names and contents."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(name.encode())
        content = tensors[name].detach().cpu().contiguous().view(-1).view(torch.uint8)
        total.update(content.numpy().data)
    return total.hexdigest()
