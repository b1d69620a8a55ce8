"""The folder of a trained model: its files, and what it says of raw text. Nothing here needs torch."""

from __future__ import annotations

from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.settings.decoding import TextSettings
from nmt.settings.json_settings import read

WEIGHTS, FINAL_STATE, SETTINGS = "model.safetensors", "final_state.safetensors", "settings.json"
SUMMARY, HISTORY = "summary.json", "history.jsonl"
TEXT = "text.json"
SOURCE_VOCABULARY, TARGET_VOCABULARY = "source.tsv", "target.tsv"
MODEL = (WEIGHTS, SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY)
"""What it takes to translate tokens; with `TEXT`, raw text."""
RECORDS = (SUMMARY, SETTINGS, HISTORY)
"""What tells how it was trained."""


def package(folder: Path, text: TextSettings) -> None:
    """Complete a finished model's folder with what raw text needs.

    It is no part of training: none of this changes a weight, and models that were trained before get it too.
    """
    refuse_other_than_model(folder)
    write_json(folder / TEXT, text.model_dump())


def text_settings(folder: Path) -> TextSettings:
    """What `package` wrote; a UserError says how to write it where it is missing or of another version."""
    path = folder / TEXT
    again = "write it with `nmt model package`, or let Snakemake make that file (docs/translating.md)"
    if not path.is_file():
        raise UserError(
            f"{path}: no such file: without it nobody knows how the model's text was tokenized; {again}"
        )
    return read(TextSettings, path, again)


def refuse_other_than_model(folder: Path) -> None:
    """A UserError unless `folder` looks like one that training has finished."""
    if not folder.is_dir():
        raise UserError(
            f"{folder}: no such folder; expected a model's, as `nmt train` writes it (models/...)"
        )
    missing = [name for name in MODEL if not (folder / name).is_file()]
    if missing:
        raise UserError(
            f"{folder}: no {missing[0]} in it; expected a model's folder, as `nmt train` writes it"
        )
