"""Tensors in safetensors files. Files are written whole or not at all, have a checksum, and cannot run code.

The description of the tensors and the SHA-256 of both are one single entry of the file's metadata, since the library
writes several entries in any order. Files of older versions have several entries and no checksum, and are not checked.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save, save_file
from torch import Tensor

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import atomic_path, is_replaceable, require_regular_file

_ABOUT, _SUM = "about", "sha256"


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all. If this fails, a UserError says why."""
    written = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    about = {**(metadata or {}), _SUM: _sum_of(written, metadata or {})}
    with (
        atomic_path(path) as temporary,
        errors_as_user_error(path, "make room and run again", SafetensorError),
    ):
        entries = {_ABOUT: json.dumps(about, sort_keys=True)}
        if is_replaceable(temporary):
            temporary.touch()
            permissions = temporary.stat().st_mode
            save_file(written, temporary, entries)
            temporary.chmod(permissions)  # the library lets nobody but the owner read its files
        else:  # the library renames its file to that name, also if /dev/null has it
            temporary.write_bytes(save(written, entries))


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file; a UserError names one that is damaged, altered or missing."""
    require_regular_file(path)
    with errors_as_user_error(path, "make or fetch it again", SafetensorError, TypeError):
        tensors, about = load_file(path), load_metadata(path)
        expected = about.pop(_SUM, None)
        if expected and expected != _sum_of(tensors, about):
            raise ValueError("checksum mismatch")
    return tensors


def round_to_float16(tensors: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Return tensors rounded to 16 bits (IEEE 754 binary16). A UserError names `path` if a number is too large."""
    rounded = {name: tensor.half() for name, tensor in tensors.items()}
    if not all(tensor.isfinite().all() for tensor in rounded.values()):
        raise UserError(f"{path}: a weight exceeds 65,504, the largest number of 16 bits")
    return rounded


def load_metadata(path: Path) -> dict[str, str]:
    """Return the description that `save_tensors` wrote with the tensors; empty if there is none."""
    with (
        errors_as_user_error(path, "make or fetch it again", SafetensorError, TypeError),
        safe_open(path, framework="pt") as file,
    ):
        entries: dict[str, str] = file.metadata() or {}
        if _ABOUT not in entries:
            return entries
        about = dict(json.loads(entries[_ABOUT]))
        if not isinstance(about.get(_SUM), str):
            raise ValueError("no checksum in its metadata")
        return about


def _sum_of(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Return the SHA-256 of names, types, shapes, contents and description of the tensors."""
    contents, shapes = hashlib.sha256(), []
    for name, tensor in sorted(tensors.items()):
        contents.update(name.encode())
        contents.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
        shapes.append([name, str(tensor.dtype), list(tensor.shape)])
    head = json.dumps([metadata, shapes, contents.hexdigest()], sort_keys=True)
    return hashlib.sha256(head.encode()).hexdigest()
