"""Facts about model types are true of the models, and a new setting changes no old one."""

import pytest
from pydantic import ValidationError

from nmt.model import model_types
from nmt.settings.base import Settings
from nmt.settings.model_types import MODEL_TYPES
from nmt.settings.training import ModelRun
from tests.small_models import small_architecture
from tests.training_settings import model_run


def test_estimate_weights(model_type):
    """For the proportions of the paper."""
    keys = MODEL_TYPES[model_type].architecture.model_fields
    sizes = {"hidden_units": 100, "embedding_size": 62, "maxout_units": 50, "alignment_units": 100}
    changes = {key: size for key, size in sizes.items() if key in keys}
    architecture = small_architecture(model_type, **changes)
    model = model_types.build_model(model_type, architecture, (400, 300))
    weight_count = sum(weight.numel() for weight in model.parameters())
    estimate = MODEL_TYPES[model_type].estimate_weights(architecture, (400, 300))
    assert estimate == pytest.approx(weight_count, rel=0.1)


class OldSettings(Settings):
    """Settings that a model was trained with."""

    units: int


class NewSettings(OldSettings):
    """The same after keys were added."""

    layers: int = 4
    order: str | None = None


def test_defaults_are_not_written():
    assert NewSettings(units=1).model_dump() == OldSettings(units=1).model_dump() == {"units": 1}
    assert NewSettings(units=1).model_dump_json() == OldSettings(units=1).model_dump_json()
    assert NewSettings(units=1, layers=2).model_dump() == {"units": 1, "layers": 2}
    assert NewSettings.model_validate(NewSettings(units=1, order="x").model_dump()) == NewSettings(
        units=1, order="x"
    )


def test_unknown_key_of_model_type(model_type):
    settings = model_run(model_type=model_type).model_dump()
    settings["architecture"]["wings"] = 2
    with pytest.raises(ValidationError) as error:
        ModelRun.model_validate(settings)
    (problem,) = error.value.errors()
    assert (problem["type"], problem["loc"]) == ("extra_forbidden", ("architecture", "wings"))
