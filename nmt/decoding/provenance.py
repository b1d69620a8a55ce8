"""The record beside a file of translations of how it was made: settings, weights, code, packages, machine, time.

A file of translations has the same bytes whenever and wherever it is made. Values that differ from run to run are in
the record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nmt.errors import UserError
from nmt.evaluation.translations import read_translations, sum_of_lines
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


@dataclass(frozen=True)
class Provenance:
    """The part of the record that is fixed before the first sentence, since code and weights may change later."""

    mode: str
    settings: Decoding
    models: list[dict[str, Any]]
    made_with: dict[str, Any]
    average: Average = "probability"

    @classmethod
    def of(
        cls,
        mode: str,
        settings: Decoding,
        folders: Sequence[Path],
        device: str,
        average: Average = "probability",
    ) -> Provenance:
        """Collect the record of a translation that begins now, with the models of these folders."""
        models = [{"name": folder.name, "sha256": sha256(folder / WEIGHTS)} for folder in folders]
        return cls(mode, settings, models, {"device": device, **origin()}, average)

    def write(self, translations: Path, sentences: int, seconds: float, resumed: bool) -> None:
        """Write the record beside finished translations.

        Args:
            translations: the file.
            sentences: number of its sentences.
            seconds: time of translating, with that of killed processes.
            resumed: whether processes were killed; code and machine are those of the last process.
        """
        record_path(translations).unlink(missing_ok=True)  # that of earlier ones
        made_with = dict(self.made_with)
        values = {
            "mode": self.mode,
            "settings": self.settings.model_dump(mode="json"),
            "models": self.models,
            **({"average": self.average} if len(self.models) > 1 else {}),
            "sentences": sentences,
            "seconds": round(seconds, 3),
            "resumed": resumed,
            "device": made_with.pop("device"),
            "translations": sum_of(translations),
            "lines": sum_of_lines(translations),
            "made_with": made_with,
        }
        write_json(record_path(translations), values)


def sum_of(translations: Path) -> str:
    """Return the SHA-256 of the translations' lines and words, which does not depend on n-best lists and attention."""
    total = hashlib.sha256()
    for record in read_translations(translations):
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
