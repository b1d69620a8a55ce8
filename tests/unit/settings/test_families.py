"""What is told of a family without building its models is true of the models, and a new setting changes no old one."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from nmt.model import families
from nmt.settings.base import WithoutDefaults
from nmt.settings.families import FAMILIES, FamilyName
from nmt.settings.training import ModelRun
from tests.small_models import interpretations, small_architecture
from tests.training_settings import model_run


def test_the_estimate_counts_the_weights_of_the_model(family: FamilyName) -> None:
    for changes in interpretations(family):
        architecture = small_architecture(family, hidden_units=100, embedding_size=62, **changes)
        model = families.build(family, architecture, 4000, 3000)
        counted = sum(weight.numel() for weight in model.parameters())
        assert FAMILIES[family].weights(architecture, (4000, 3000)) == pytest.approx(counted, rel=0.02)


class Before(WithoutDefaults):
    """Settings that a model was trained with."""

    units: int


class After(Before):
    """The same after keys were added."""

    layers: int = 4
    order: str | None = None


def test_a_key_with_its_default_is_not_written() -> None:
    assert After(units=1).model_dump() == Before(units=1).model_dump() == {"units": 1}
    assert After(units=1).model_dump_json() == Before(units=1).model_dump_json()
    assert After(units=1, layers=2).model_dump() == {"units": 1, "layers": 2}
    assert After.model_validate(After(units=1, order="x").model_dump()) == After(units=1, order="x")


def test_settings_survive_being_written_and_read(family: FamilyName) -> None:
    run = model_run(family=family)
    assert ModelRun.model_validate_json(run.model_dump_json()) == run
    assert ModelRun.model_validate(run.model_dump()) == run


def test_a_key_that_the_family_does_not_have_is_refused(family: FamilyName) -> None:
    settings = model_run(family=family).model_dump()
    settings["architecture"]["wings"] = 2
    with pytest.raises(ValidationError) as caught:
        ModelRun.model_validate(settings)
    (problem,) = caught.value.errors()
    assert (problem["type"], problem["loc"]) == ("extra_forbidden", ("architecture", "wings"))
