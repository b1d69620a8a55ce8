"""The paper's settings of RNNsearch-50, which `nmt train` and `nmt model package` take where no others are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nmt.settings.families import FAMILIES

PAPER: dict[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_text(encoding="utf-8"))
RUN_KEYS = ("max_words", "seed", "continue_from", "architecture", "training")
TEXT_KEYS = ("tokenization", "decoding")


def complete_run(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a run, `ModelRun`, with the paper's where there are none.

    A model without a name has that of its family.
    """
    family = values.get("family", "rnnsearch")
    model = values.get("model", family)
    names = {"family": family, "model": model, "label": model}
    completed = names | complete(values, RUN_KEYS)

    # other families do not have all keys of RNNsearch
    if family in FAMILIES and isinstance(completed["architecture"], dict):
        own_keys = FAMILIES[family].architecture.model_fields
        given_keys = values.get("architecture", {})
        completed["architecture"] = {
            key: value
            for key, value in completed["architecture"].items()
            if key in own_keys or key in given_keys
        }
    return completed


def complete_text(values: dict[str, Any]) -> dict[str, Any]:
    """Return a model's settings for raw text, `TextSettings`, with the paper's where there are none."""
    return complete(values, TEXT_KEYS)


def complete(values: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Return settings with the paper's values of these keys, and of those inside them, where there are none."""
    completed = dict(values)
    for key in keys:
        default, value = PAPER[key], values.get(key, {})
        if isinstance(default, dict) and isinstance(value, dict):
            completed[key] = default | value
        elif key not in values:
            completed[key] = default
    return completed
