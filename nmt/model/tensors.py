"""Tensors in safetensors files. Files are written whole or not at all, have a checksum, and cannot run code.

The description of the tensors and the SHA-256 of both are one single entry of the file's metadata, since the library
writes several entries in any order. Files of older versions have several entries and no checksum, and are not checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save, save_file
from torch import Tensor

from nmt.errors import UserError
from nmt.io.files import allow_by_umask, atomic_path, refuse_special, replaceable

_ABOUT, _SUM = "about", "sha256"


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all. If this fails, a UserError says why."""
    written = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    about = {**(metadata or {}), _SUM: _sum_of(written, metadata or {})}
    with atomic_path(path) as temporary, write_errors(path):
        said = {_ABOUT: json.dumps(about, sort_keys=True)}
        if replaceable(temporary):
            save_file(written, temporary, said)
            allow_by_umask(temporary)  # the library lets nobody but the owner read its files
        else:  # the library renames its file to that name, also if /dev/null has it
            temporary.write_bytes(save(written, said))


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn the library's own error for a full disk into a UserError."""
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


def halved(tensors: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Return tensors rounded to 16 bits (IEEE 754 binary16). A UserError names `path` if a number is too large."""
    rounded = {name: tensor.half() for name, tensor in tensors.items()}
    if not all(tensor.isfinite().all() for tensor in rounded.values()):
        raise UserError(f"{path}: a weight exceeds 65,504, the largest number of 16 bits")
    return rounded


def load_metadata(path: Path) -> dict[str, str]:
    """Return the description that `save_tensors` wrote with the tensors; empty if there is none."""
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
    """Return the SHA-256 of names, types, shapes, contents and description of the tensors."""
    shapes = [[name, str(tensors[name].dtype), list(tensors[name].shape)] for name in sorted(tensors)]
    head = json.dumps([metadata, shapes, digest(tensors)], sort_keys=True)
    return hashlib.sha256(head.encode()).hexdigest()


def digest(tensors: dict[str, Tensor]) -> str:
    """Return the SHA-256 of names and contents."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        total.update(name.encode())
        content = tensors[name].detach().cpu().contiguous().view(-1).view(torch.uint8)
        total.update(content.numpy().data)
    return total.hexdigest()
