"""The folder of a trained model: its files and its settings for raw text. This module does not need PyTorch."""

from __future__ import annotations

from pathlib import Path

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import read_json, sha256, write_json
from nmt.settings.base import read_settings
from nmt.settings.decoding import TextSettings

WEIGHTS = "model.safetensors"
FINAL_STATE = "final_state.safetensors"
SETTINGS = "settings.json"
SUMMARY = "summary.json"
HISTORY = "history.jsonl"
TEXT_SETTINGS = "text.json"  # how raw text is tokenized and translated
MODEL_CARD = "README.md"
SOURCE_VOCABULARY = "source.tsv"
TARGET_VOCABULARY = "target.tsv"

NEEDED_FILES = (WEIGHTS, SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY)
"""Files that are needed to translate tokens. Together with `TEXT_SETTINGS`, they translate raw text."""
RECORD_FILES = (SUMMARY, SETTINGS, HISTORY)
"""Files that tell how the model was trained."""
RELEASED_FILES = (MODEL_CARD, WEIGHTS, SETTINGS, SOURCE_VOCABULARY, SUMMARY, TARGET_VOCABULARY)
"""Files that an archive of the model needs."""


def write_text_settings(folder: Path, settings: TextSettings) -> None:
    """Write the settings for raw text into the folder of a finished model.

    This step is not part of the training: it changes no weight, and also works for models that were trained long ago.
    """
    check_model_folder(folder)
    write_json(folder / TEXT_SETTINGS, settings.model_dump())


def read_text_settings(folder: Path) -> TextSettings:
    """Read the settings for raw text from the folder of a model.

    Raises a UserError, which says how to write them, if they are missing or of a different version.
    """
    path = folder / TEXT_SETTINGS
    remedy = "write it with `nmt model package`, or let Snakemake make that file (docs/translating.md)"
    if not path.is_file():
        check_model_folder(folder)
        raise UserError(f"{path}: no such file, which says how the model's text was tokenized; {remedy}")
    return read_settings(TextSettings, path, remedy)


def read_model_key(folder: Path) -> str:
    """Return the key of a finished model in a store (see `nmt.store.training_store.compute_model_key`)."""
    path = folder / SUMMARY
    with errors_as_user_error(
        path, KeyError, TypeError, remedy="expected a model of this version: train it again"
    ):
        key: str = read_json(path)["key"]
    return key


def initial_weights_checksum(folder: Path | None) -> dict[str, str]:
    """Return the entry "initial_weights" of a model's summary: the checksum of the weights with which it begins.

    If `folder` is None, the initial weights are random, and there is no such entry.
    """
    if folder is None:
        return {}
    check_model_folder(folder)
    return {"initial_weights": sha256(folder / WEIGHTS)}


def check_model_folder(folder: Path) -> None:
    """Raise a UserError unless `folder` looks like the folder of a finished model."""
    for name in NEEDED_FILES:
        if not (folder / name).is_file():
            problem = f"no {name} in it" if folder.is_dir() else "no such folder"
            raise UserError(
                f"{folder}: {problem}; expected a model's folder, as `nmt train` writes it (models/...)"
            )


def list_weights_checksums(folder: Path) -> set[str]:
    """Return the SHA-256 of a model's weights and, if `nmt model release --bits 16` rounded them, of the originals."""
    checksums = {sha256(folder / WEIGHTS)}
    summary = read_json(folder / SUMMARY)
    if "rounded_from" in summary and summary["weights"] in checksums:
        checksums.add(summary["rounded_from"])
    return checksums
