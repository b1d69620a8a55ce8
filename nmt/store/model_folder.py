"""The folder of a trained model: its files and its settings for raw text. This module does not need PyTorch."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from nmt.errors import UserError
from nmt.io.files import read_json, sha256, write_json
from nmt.settings.base import read_settings
from nmt.settings.decoding import TextSettings

WEIGHTS, FINAL_STATE, SETTINGS = "model.safetensors", "final_state.safetensors", "settings.json"
SUMMARY, HISTORY = "summary.json", "history.jsonl"
TEXT_SETTINGS, MODEL_CARD = "text.json", "README.md"
SOURCE_VOCABULARY, TARGET_VOCABULARY = "source.tsv", "target.tsv"
NEEDED_FILES = (WEIGHTS, SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY)
"""Files that are needed to translate tokens; together with `TEXT`, raw text."""
RECORD_FILES = (SUMMARY, SETTINGS, HISTORY)
"""Files that tell how the model was trained."""
RELEASED_FILES = (MODEL_CARD, WEIGHTS, SETTINGS, SOURCE_VOCABULARY, SUMMARY, TARGET_VOCABULARY)
"""Files that an archive of the model needs."""


def write_text_settings(folder: Path, text: TextSettings) -> None:
    """Write the settings for raw text into the folder of a finished model.

    This step is not part of training: it changes no weight, and also works for models trained before.
    """
    check_model_folder(folder)
    write_json(folder / TEXT_SETTINGS, text.model_dump())


def read_text_settings(folder: Path) -> TextSettings:
    """Read the file that `package` wrote. If it is missing or of another version, a UserError says how to write it."""
    path = folder / TEXT_SETTINGS
    again = "write it with `nmt model package`, or let Snakemake make that file (docs/translating.md)"
    if not path.is_file():
        check_model_folder(folder)
        raise UserError(
            f"{path}: no such file: without it nobody knows how the model's text was tokenized; {again}"
        )
    return read_settings(TextSettings, path, again)


def read_model_key(folder: Path) -> str:
    """Return the key of a finished model, which names all that decided it (`nmt.store.result_store`)."""
    return read_settings(_Summary, folder / SUMMARY, "expected a model of this version: train it again").key


class _Summary(BaseModel, extra="ignore"):
    key: str


def find_initial_weights(folder: Path | None) -> dict[str, str]:
    """Return the checksum of the weights that a training begins with, by its name in `data` of a summary.

    It is empty for a training that draws its initial weights, whose folder is None.
    """
    if folder is None:
        return {}
    check_model_folder(folder)
    return {"initial_weights": sha256(folder / WEIGHTS)}


def check_model_folder(folder: Path) -> None:
    """Raise a UserError unless `folder` looks like the folder of a finished model."""
    missing = [name for name in NEEDED_FILES if not (folder / name).is_file()]
    if missing:
        found = f"no {missing[0]} in it" if folder.is_dir() else "no such folder"
        raise UserError(
            f"{folder}: {found}; expected a model's folder, as `nmt train` writes it (models/...)"
        )


def list_weights_checksums(folder: Path) -> set[str]:
    """Return the SHA-256 of a model's weights, and of those that `nmt model release --bits 16` rounded, if any."""
    checksum = sha256(folder / WEIGHTS)
    summary = read_json(folder / SUMMARY) if (folder / SUMMARY).is_file() else None
    if isinstance(summary, dict) and summary.get("weights") == checksum and "rounded_from" in summary:
        return {checksum, str(summary["rounded_from"])}
    return {checksum}
