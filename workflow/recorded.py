"""What Snakemake has on record of a job's parameters, where nothing follows from what has changed in them since."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from typing import Any

from nmt.settings.training import ModelRun


def as_recorded(recorded: Iterable[str] | None, wanted: str, deciding: Callable[[str], Any]) -> str:
    """The parameter on record that decides the same as the wanted one, so that the job is not run again; else that one.

    Args:
        recorded: the job's parameters as Snakemake wrote them, each as Python shows it; None: there is no record.
        wanted: the parameter as the settings have it now.
        deciding: what follows from a parameter; a ValueError where the text is another parameter's.
    """
    for shown in recorded or ():
        try:
            text = ast.literal_eval(shown)
            if deciding(text) == deciding(wanted):
                return str(text)
        except (ValueError, TypeError, AttributeError, SyntaxError):
            continue
    return wanted


def of_training(settings: str) -> dict[str, Any]:
    """What decides a model of its settings (`nmt train --settings`)."""
    return ModelRun.model_validate_json(settings).outcome()


def of_text(settings: str) -> dict[str, Any]:
    """What decides the text of `projections.data_settings`: of a selection that is off nothing else."""
    values: dict[str, Any] = json.loads(settings)
    if not values.get("selection", {}).get("enabled", True):
        values["selection"] = None
    return values
