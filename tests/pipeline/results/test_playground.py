"""The page that translates computes every equation that a setting chooses: tests/end_to_end try them in a browser."""

from typing import Literal, get_origin

import pytest

from nmt.settings.model_types import MODEL_TYPES, MODEL_TYPES_IN_BROWSER, ModelTypeName
from tests.small_models import INTERPRETATIONS


@pytest.mark.parametrize("model_type", MODEL_TYPES_IN_BROWSER)
def test_browser_test_tries_each_choice_of_an_equation(model_type: ModelTypeName) -> None:
    architecture = MODEL_TYPES[model_type].architecture
    choices = {
        name
        for name, field in architecture.model_fields.items()
        if field.annotation is bool or get_origin(field.annotation) is Literal
    }
    assert choices == {"source_eos", *INTERPRETATIONS[architecture]}
