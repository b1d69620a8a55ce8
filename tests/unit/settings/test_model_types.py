"""Facts about model types are true of the models, and a new setting changes no old one."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from nmt.model import model_types
from nmt.settings.base import OmitsDefaults
from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from nmt.settings.training import ModelRun
from tests.small_models import interpretations, small_architecture
from tests.training_settings import model_run


def test_count_weights(model_type: ModelTypeName) -> None:
    for changes in interpretations(model_type):
        architecture = small_architecture(model_type, hidden_units=100, embedding_size=62, **changes)
        model = model_types.build_model(model_type, architecture, 4000, 3000)
        weight_count = sum(weight.numel() for weight in model.parameters())
        assert MODEL_TYPES[model_type].count_weights(architecture, (4000, 3000)) == pytest.approx(
            weight_count, rel=0.02
        )


class OldSettings(OmitsDefaults):
    """Settings that a model was trained with."""

    units: int


class NewSettings(OldSettings):
    """The same after keys were added."""

    layers: int = 4
    order: str | None = None


def test_defaults_are_not_written() -> None:
    assert NewSettings(units=1).model_dump() == OldSettings(units=1).model_dump() == {"units": 1}
    assert NewSettings(units=1).model_dump_json() == OldSettings(units=1).model_dump_json()
    assert NewSettings(units=1, layers=2).model_dump() == {"units": 1, "layers": 2}
    assert NewSettings.model_validate(NewSettings(units=1, order="x").model_dump()) == NewSettings(
        units=1, order="x"
    )


def test_write_and_read_run(model_type: ModelTypeName) -> None:
    run = model_run(model_type=model_type)
    assert ModelRun.model_validate_json(run.model_dump_json()) == run
    assert ModelRun.model_validate(run.model_dump()) == run


def test_unknown_key_of_model_type(model_type: ModelTypeName) -> None:
    settings = model_run(model_type=model_type).model_dump()
    settings["architecture"]["wings"] = 2
    with pytest.raises(ValidationError) as error:
        ModelRun.model_validate(settings)
    (problem,) = error.value.errors()
    assert (problem["type"], problem["loc"]) == ("extra_forbidden", ("architecture", "wings"))
