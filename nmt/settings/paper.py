"""The paper's settings of RNNsearch-50, which are the defaults of `nmt train` and `nmt model package`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nmt.settings.model_types import MODEL_TYPES

PAPER: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("paper.json").read_text(encoding="utf-8")
)
"""Default settings of a training (run: `ModelRun`) and of a model for raw text (text: `TextSettings`)."""


def add_run_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a run, with the values of the paper for missing keys.

    If the name of the model is missing, the model type becomes its name.
    """
    model_type = values.get("model_type", "rnnsearch")
    model = values.get("model", model_type)
    defaults = PAPER["run"] | {"model_type": model_type, "model": model, "label": model}
    if model_type in MODEL_TYPES:
        # The paper's values are those of RNNsearch. Other model types lack some of these keys.
        known_keys = MODEL_TYPES[model_type].architecture.model_fields.keys()
        architecture = defaults["architecture"]
        defaults["architecture"] = {key: architecture[key] for key in architecture.keys() & known_keys}
    return merge_settings(defaults, values)


def add_text_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """Return a model's settings for raw text, with the values of the paper for missing keys."""
    return merge_settings(PAPER["text"], values)


def merge_settings(defaults: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return settings with default values for missing keys, also within blocks such as `training`."""
    settings = defaults | values
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(defaults.get(key), dict):
            settings[key] = defaults[key] | value
    return settings
