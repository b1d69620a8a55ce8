"""Tensors in safetensors files: written whole or not at all, summed, and nothing in them can run code.

What is said of the tensors and the SHA-256 of both are one entry of the file's metadata: the library writes several in
any order. Files of versions without a sum have their entries side by side, and are read unchecked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from nmt.errors import UserError
from nmt.io.files import allow_by_umask, atomic_path, refuse_special

_ABOUT, _SUM = "about", "sha256"


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all; a UserError says why it could not be written."""
    written = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    about = {**(metadata or {}), _SUM: _sum_of(written, metadata or {})}
    with atomic_path(path) as temporary, write_errors(path):
        save_file(written, temporary, {_ABOUT: json.dumps(about, sort_keys=True)})
        allow_by_umask(temporary)  # the library lets nobody but the owner read its files


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """The library reports a full disk as an error of its own kind."""
    try:
        yield
    except SafetensorError as error:
        raise UserError(f"{path}: could not be written ({error}); make room and run again") from None


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file; a UserError names one that is damaged, altered or missing."""
    refuse_special(path)
    if path.is_dir():
        raise UserError(f"{path}: a folder, expected a safetensors file")
    try:
        tensors, said = load_file(path), load_metadata(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected the weights of a model") from None
    except SafetensorError as error:
        raise UserError(f"{path}: damaged ({error}); make or fetch it again") from None
    expected = said.pop(_SUM, None)
    if expected and expected != _sum_of(tensors, said):
        raise UserError(f"{path}: damaged (checksum mismatch); make or fetch it again")
    return tensors


def load_metadata(path: Path) -> dict[str, str]:
    """What `save_tensors` wrote beside the tensors; empty if nothing."""
    with safe_open(path, framework="pt") as file:
        said: dict[str, str] = file.metadata() or {}
    if _ABOUT not in said:
        return said
    try:
        about = json.loads(said[_ABOUT])
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or not isinstance(about.get(_SUM), str):
        raise UserError(f"{path}: damaged (no checksum in its metadata); make or fetch it again")
    return about


def _sum_of(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """SHA-256 of names, types, shapes and contents, and of what is said of them."""
    shapes = [[name, str(tensors[name].dtype), list(tensors[name].shape)] for name in sorted(tensors)]
    head = json.dumps([metadata, shapes, digest(tensors)], sort_keys=True)
    return hashlib.sha256(head.encode()).hexdigest()


def digest(tensors: dict[str, Tensor]) -> str:
    """SHA-256 of names and contents."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(name.encode())
        content = tensors[name].detach().cpu().contiguous().view(-1).view(torch.uint8)
        total.update(content.numpy().data)
    return total.hexdigest()
