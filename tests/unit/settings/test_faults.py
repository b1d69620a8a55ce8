"""What is said of settings that are at fault, whatever schema finds it."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from nmt.settings.base import Settings
from nmt.settings.faults import known_keys, shown, summary
from tests.messages import check


class Square(Settings):
    kind: Literal["square"]
    side: int


class Circle(Settings):
    kind: Literal["circle"]
    radius: Annotated[float, Field(gt=0)]
    filled: bool = False


class Drawing(Settings):
    label: str = ""
    shapes: dict[str, Annotated[Square | Circle, Field(discriminator="kind")]] = Field(default={})
    sizes: list[int | None] = Field(default=[])


@pytest.mark.parametrize(
    "values",
    [
        {"label": 3},
        {"sizes": [1, "2"]},
        {"shapes": {"a": {"kind": "circle", "radius": 0}}},
        {"shapes": {"a": {"kind": "circle", "radius": 1.0, "filled": "yes"}}},
        {"shapes": {"a": {"kind": "star"}}},
        {"shapes": {"a": {"kind": "square"}}},
        {"shapes": 3},
        {"[key]": 3},
        {"shapes": {3: {"kind": "square", "side": 1}}},
        {"shapes": {"a": {"kind": "square", "side": 1, "edge": 2}}},
        {"shapes": {"a": {"kind": "square", "side": 1, "radius": 2.0}}},
    ],
    ids=str,
)
def test_the_line_names_the_key_without_which_kind_it_was_taken_for(values: object) -> None:
    with pytest.raises(ValidationError) as raised:
        Drawing.model_validate(values)
    check(summary(raised.value, Drawing))


def test_keys_of_all_kinds_of_a_union_are_known() -> None:
    assert known_keys(("shapes", "any"), Drawing) == ["kind", "side", "radius", "filled"]
    assert known_keys(("shapes", "any"), Drawing, but="radius") == ["kind", "side"]
    assert known_keys((), Drawing) == ["label", "shapes", "sizes"]
    assert known_keys(("label",), Drawing) == known_keys(("nowhere", "x"), Drawing) == []


@pytest.mark.parametrize(
    "value", ["x" * 10**6, [["x" * 100] * 100] * 100, {"k" * 1000: 1}, 10**4000, "\x1b[31m\n"]
)
def test_whatever_is_found_is_a_short_piece_of_one_line(value: object) -> None:
    assert len(shown(value)) < 100 and shown(value).isprintable()
