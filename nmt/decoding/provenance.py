"""The record beside a file of translations of how it was made: settings, weights, code, packages, machine, time.

A file of translations has the same bytes whenever and wherever it is made. Values that differ from run to run are in
the record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nmt.errors import UserError
from nmt.evaluation.translations import read_records, sum_of_lines
from nmt.evaluation.translations import record_path as record_path
from nmt.io.files import sha256, write_json
from nmt.io.system import origin
from nmt.settings.base import read as read_settings
from nmt.settings.decoding import Average, Decoding
from nmt.store.model_folder import WEIGHTS


class _Weights(BaseModel, extra="allow"):
    name: str
    sha256: str


class _Written(BaseModel, extra="allow"):
    """The keys of the record that are checked; it has others."""

    mode: str
    settings: dict[str, Any]
    models: list[_Weights]
    sentences: int
    seconds: float
    device: str
    translations: str
    made_with: dict[str, Any]


def begun(
    mode: str, settings: Decoding, folders: Sequence[Path], device: str, average: Average = "probability"
) -> dict[str, Any]:
    """Return what is known before the first sentence of a translation with the models of these folders.

    Code and weights may change before it ends.
    """
    return {
        "mode": mode,
        "settings": settings.model_dump(mode="json"),
        "models": [{"name": folder.name, "sha256": sha256(folder / WEIGHTS)} for folder in folders],
        **({"average": average} if len(folders) > 1 else {}),
        "device": device,
        "made_with": origin(),
    }


def write(
    record: Mapping[str, Any], translations: Path, sentences: int, seconds: float, resumed: bool
) -> None:
    """Write the record beside finished translations.

    Args:
        record: of `begun`.
        translations: the file.
        sentences: number of its sentences.
        seconds: time of translating, with that of killed processes.
        resumed: whether processes were killed; code and machine are those of the last process.
    """
    record_path(translations).unlink(missing_ok=True)  # that of earlier ones
    done = {"sentences": sentences, "seconds": round(seconds, 3), "resumed": resumed}
    sums = {"translations": sum_of(translations), "lines": sum_of_lines(translations)}
    write_json(record_path(translations), {**record, **done, **sums})


def sum_of(translations: Path) -> str:
    """Return the SHA-256 of the translations' lines and words, which does not depend on n-best lists and attention."""
    total = hashlib.sha256()
    for record in read_records(translations):
        total.update(f"{record.line}\t{' '.join(record.target)}\n".encode())
    return total.hexdigest()


def read(translations: Path) -> dict[str, Any]:
    """Read the record beside a file of translations. Raise a UserError if it is missing, or not such a record."""
    return read_settings(_Written, record_path(translations), "decode again").model_dump()


def refuse_other(translations: Path) -> None:
    """Raise a UserError unless the record beside translations belongs to them."""
    if read(translations)["translations"] != sum_of(translations):
        raise UserError(
            f"{translations}: not the translations that {record_path(translations)} is of; decode again"
        )
