"""The description of a bitext in `meta.json`: counts, and checksums by which two bitexts are compared without reading
their large files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from nmt.errors import UserError
from nmt.settings.base import Settings, read_settings

ARRAYS = ("source.ids.npy", "target.ids.npy", "source.offsets.npy", "target.offsets.npy")
BITEXT_FILES = (*ARRAYS, "meta.json")
"""Files of a bitext."""


class Meta(Settings, extra="ignore"):
    """Counts of a bitext, and checksums: of the vocabularies that it was made with, and of the four arrays."""

    pairs: int
    source_words: int
    target_words: int
    shuffled_seed: int | None
    source_vocabulary_sha256: str
    target_vocabulary_sha256: str
    sha256: str
    settings: dict[str, Any] = Field(default_factory=dict)
    """The settings that the text was prepared with. They show whether a bitext is out of date."""


def read_meta(folder: Path) -> Meta:
    """Return the description of the bitext in a folder. Raises a UserError if there is none."""
    if not (folder / "meta.json").is_file():
        raise UserError(f"{folder}: no bitext (meta.json is missing); make it with `nmt data binarize`")
    return read_settings(Meta, folder / "meta.json", "make the bitext again")


def data_checksums(train: Meta, dev: Meta) -> dict[str, str]:
    """Return the checksums of two bitexts and of their vocabularies, under the keys of a model's summary."""
    return {
        "train": train.sha256,
        "dev": dev.sha256,
        "source_vocabulary": train.source_vocabulary_sha256,
        "target_vocabulary": train.target_vocabulary_sha256,
    }
