"""Recorded parameters of a job that mean the same as the wanted ones."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from typing import Any

from nmt.settings.training import ModelRun


def as_recorded(recorded: Iterable[str] | None, wanted: str, deciding: Callable[[str], Any]) -> str:
    """Return the recorded parameter if it means the same, so that the job does not run again, else the wanted one.

    Args:
        recorded: the job's parameters as Snakemake wrote them, each as Python shows it; None: there is no record.
        wanted: the parameter as the settings have it now.
        deciding: what follows from a parameter; a ValueError where the text is another parameter's.
    """
    for literal in recorded or ():
        try:
            text = ast.literal_eval(literal)
            if deciding(text) == deciding(wanted):
                return str(text)
        except (ValueError, TypeError, AttributeError, SyntaxError):
            continue
    return wanted


def of_training(settings: str) -> dict[str, Any]:
    """Return the part of `nmt train --settings` that decides a model."""
    return ModelRun.model_validate_json(settings).outcome()


def of_text(settings: str) -> dict[str, Any]:
    """Return the part of `data_settings` that decides the text. A selection that is off decides nothing."""
    values: dict[str, Any] = json.loads(settings)
    if not values.get("selection", {}).get("enabled", True):
        values["selection"] = None
    return values
