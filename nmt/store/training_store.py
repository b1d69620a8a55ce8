"""The store of trainings. The key of a training is a checksum of all settings and text that its weights depend on.

    store/trainings/rnnsearch-50-3fa9c1d2e0b7/                 checkpoints, history, best weights
    store/trainings/rnnsearch-50-3fa9c1d2e0b7/finished-9b.../  the finished model

No workflow declares these files as outputs, so none deletes them. Whoever changes a setting back finds the former
model again. This module does not need PyTorch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nmt.io.files import copy_file, format_json, read_json, write_json
from nmt.settings.base import FlatSettings, describe_differences, flatten
from nmt.settings.training import ModelRun
from nmt.store.model_folder import (
    FINAL_STATE,
    HISTORY,
    MODEL_CARD,
    SETTINGS,
    SOURCE_VOCABULARY,
    SUMMARY,
    TARGET_VOCABULARY,
    WEIGHTS,
)

KEY_DIGITS = 12
"""Hexadecimal digits of a key."""
TRAINING_INPUTS = "facts.json"
"""File with the inputs of a training."""
COPIED_FILES = (WEIGHTS, FINAL_STATE, HISTORY, SOURCE_VOCABULARY, TARGET_VOCABULARY)
"""Files of a finished model that do not depend on its names."""


def compute_key(inputs: Mapping[str, Any]) -> str:
    """Return the first digits of the SHA-256 of some inputs."""
    text = json.dumps(inputs, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def collect_training_inputs(
    run: ModelRun, data: Mapping[str, str], base_key: str | None = None
) -> FlatSettings:
    """Return the settings and checksums that the weights of a training depend on, with dotted keys.

    Args:
        data: checksums of the training and development text and of both vocabularies.
        base_key: key of the finished model that the training continues.
    """
    inputs: dict[str, Any] = {"settings": run.fingerprint_fields(), "data": data}
    if base_key is not None:
        inputs["base"] = base_key
    return flatten(inputs)


def compute_model_key(inputs: FlatSettings, run: ModelRun) -> str:
    """Return the key of a finished model, from the inputs of its training and the settings of the training's end."""
    return compute_key({"training": compute_key(inputs), "ending": run.ending_fields()})


class TrainingStore:
    """The trainings in a store, and the finished models of other stores.

    Args:
        other_stores: stores of other experiments, whose finished models are used, too.
    """

    def __init__(self, folder: Path, other_stores: Iterable[Path] = ()) -> None:
        self.folder = folder / "trainings"
        self.other_folders = [store / "trainings" for store in other_stores]

    def find_model(self, key: str) -> Path | None:
        """Return the folder of the finished model with this key, or None."""
        for folder in (self.folder, *self.other_folders):
            # The summary is written last, so a folder with a summary is complete.
            for summary in folder.glob(f"*/finished-{key}/{SUMMARY}"):
                return summary.parent
        return None

    def find_state_folders(self, name: str, inputs: FlatSettings, run: ModelRun) -> list[Path]:
        """Return the two folders in which a training may lie, the first choice first.

        The first is for all trainings with these inputs, whenever they end. The second is for this end alone, if the
        training in the first has gone on beyond it.
        """
        key = compute_key(inputs)
        shared_folder = self._find_state_folder(name, key)
        folder_for_this_end = self._find_state_folder(name, f"{key}-{compute_model_key(inputs, run)}")
        return [shared_folder, folder_for_this_end]

    def _find_state_folder(self, name: str, key: str) -> Path:
        """Return the folder with this key, even if a different name stands in front, or the path of a new folder."""
        return next(self.folder.glob(f"*-{key}"), self.folder / f"{name}-{key}")

    def describe_changes(self, name: str, inputs: FlatSettings) -> str:
        """Return the changes since the most similar former training of this name.

        Return "" if there is none, or if a training of this name has the same inputs and only a different end.
        """
        # The pattern has a key of fixed length, so that rnnsearch-50 does not find the trainings of rnnsearch-50-star.
        descriptions = []
        for path in self.folder.glob(f"{name}-{'?' * KEY_DIGITS}/{TRAINING_INPUTS}"):
            changes = describe_differences(read_json(path), inputs)
            if not changes:
                return ""
            descriptions.append(f"{changes}; the former training stays in {path.parent}")
        # the shortest text has the fewest changes
        return min(descriptions, key=len, default="")


def finished_model_folder(state_folder: Path, key: str) -> Path:
    """Return the path of the finished model with this key within the folder of its training."""
    return state_folder / f"finished-{key}"


def copy_model(stored_model: Path, output: Path, run: ModelRun) -> dict[str, Any]:
    """Copy the files of a finished model into a folder, with its current names in settings and summary.

    They are copies, not links: whoever changes an output in place would otherwise change the model in the store.

    Args:
        stored_model: the model's folder in a store.
        run: the model's settings, with its current id and label.

    Returns:
        The summary.
    """
    # 1. remove the card of a different model, but not a card of this one, since a person may have edited it
    summary: dict[str, Any] = read_json(stored_model / SUMMARY) | run.summary_fields()
    old_summary = output / SUMMARY
    if old_summary.is_file() and old_summary.read_bytes() != format_json(summary).encode():
        (output / MODEL_CARD).unlink(missing_ok=True)

    # 2. copy the files
    for name in COPIED_FILES:
        copy_file(stored_model / name, output / name)
    write_json(output / SETTINGS, run.model_dump())
    write_json(output / SUMMARY, summary)
    return summary
