"""The page that translates computes every equation that a setting chooses; tests/end_to_end try them in a browser."""

from typing import Literal, get_origin

import pytest

from nmt.settings.model_types import MODEL_TYPES, MODEL_TYPES_IN_BROWSER, ModelTypeName
from tests.running import ROOT

SCRIPT = (ROOT / "pipeline" / "results" / "playground" / "model.js").read_text(encoding="utf-8")
SHOWN_BY_WEIGHTS = {"output_layer"}
"""Settings that the script recognizes by the names of the weights."""


@pytest.mark.parametrize("model_type", MODEL_TYPES_IN_BROWSER)
def test_page_knows_each_choice_of_an_equation(model_type: ModelTypeName) -> None:
    fields = MODEL_TYPES[model_type].architecture.model_fields
    choices = {
        name
        for name, field in fields.items()
        if field.annotation is bool or get_origin(field.annotation) is Literal
    }
    assert {"source_eos", "step_order"} <= choices
    unknown = [name for name in choices - SHOWN_BY_WEIGHTS if f"architecture.{name}" not in SCRIPT]
    assert not unknown, "compute it in model.js, or refuse such a model in page.py"
