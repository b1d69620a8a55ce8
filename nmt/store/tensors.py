"""Tensors in safetensors files. Files are written atomically, have a checksum, and cannot run code.

The file's metadata has a single entry, since the library writes several entries in any order. It holds the metadata of
the tensors, and the SHA-256 of tensors and metadata.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import atomic_path, require_regular_file

METADATA_KEY = "about"
"""The entry of the file's metadata with the metadata of `save_tensors`, as JSON."""
CHECKSUM_KEY = "sha256"
"""The key of the checksum within this JSON."""


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file atomically. Raises a UserError if this fails."""
    cpu_tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = dict(metadata or {})
    metadata[CHECKSUM_KEY] = compute_checksum(cpu_tensors, metadata)
    entries = {METADATA_KEY: json.dumps(metadata, sort_keys=True)}

    with atomic_path(path) as temporary_path:
        # `save_file` lets nobody but the owner read its files. So the usual permissions are restored.
        temporary_path.touch()
        permissions = temporary_path.stat().st_mode
        try:
            save_file(cpu_tensors, temporary_path, entries)
        except SafetensorError as error:  # its text contains the error of the system
            raise UserError(f"{path}: cannot be written ({error}); make room and run again") from None
        temporary_path.chmod(permissions)


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file. Raises a UserError if it is damaged, altered or missing."""
    require_regular_file(path)
    with errors_as_user_error(path, SafetensorError, TypeError, remedy="make or fetch it again"):
        tensors, metadata = load_file(path), load_metadata(path)
        checksum = metadata.pop(CHECKSUM_KEY, None)  # of the tensors and the remaining metadata
        if checksum != compute_checksum(tensors, metadata):
            raise ValueError("checksum mismatch")
    return tensors


def load_metadata(path: Path) -> dict[str, str]:
    """Return the metadata that `save_tensors` wrote, with the checksum."""
    with (
        errors_as_user_error(path, SafetensorError, TypeError, KeyError, remedy="make or fetch it again"),
        safe_open(path, framework="pt") as file,
    ):
        return dict(json.loads(file.metadata()[METADATA_KEY]))


def round_to_float16(tensors: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Return tensors rounded to 16 bits (IEEE 754 binary16). Raises a UserError if a number is too large."""
    rounded_tensors = {name: tensor.half() for name, tensor in tensors.items()}
    for tensor in rounded_tensors.values():
        if not tensor.isfinite().all():
            raise UserError(f"{path}: a weight exceeds 65,504, the largest number of 16 bits")
    return rounded_tensors


def compute_checksum(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Return the SHA-256 of names, types, shapes and contents of the tensors, and of the metadata."""
    digest = hashlib.sha256()  # of names and numbers
    shapes = []
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        # the bytes of the numbers, without a copy
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
        shapes.append([name, str(tensor.dtype), list(tensor.shape)])
    description = json.dumps([metadata, shapes, digest.hexdigest()], sort_keys=True)
    return hashlib.sha256(description.encode()).hexdigest()
