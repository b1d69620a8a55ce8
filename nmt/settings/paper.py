"""The paper's settings of RNNsearch-50, which `nmt train` and `nmt model package` take where no others are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nmt.settings.model_types import MODEL_TYPES

PAPER: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("paper.json").read_text(encoding="utf-8")
)
"""run: those of a training, `ModelRun`. text: those of a model for raw text, `TextSettings`."""


def complete_run(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a run with the paper's where there are none. A model without a name has its type's."""
    model_type = values.get("model_type", "rnnsearch")
    model = values.get("model", model_type)
    defaults = PAPER["run"] | {"model_type": model_type, "model": model, "label": model}
    if model_type in MODEL_TYPES:
        # other model types do not have all keys of RNNsearch
        own_keys = MODEL_TYPES[model_type].architecture.model_fields
        architecture = defaults["architecture"].items()
        defaults["architecture"] = {key: value for key, value in architecture if key in own_keys}
    return merge(defaults, values)


def complete_text(values: dict[str, Any]) -> dict[str, Any]:
    """Return a model's settings for raw text with the paper's where there are none."""
    return merge(PAPER["text"], values)


def merge(defaults: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return settings with default values where there are none, also within blocks."""
    blocks = {
        key: defaults[key] | value
        for key, value in values.items()
        if isinstance(value, dict) and isinstance(defaults.get(key), dict)
    }
    return defaults | values | blocks
