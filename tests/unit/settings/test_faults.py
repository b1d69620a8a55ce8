"""What is said of settings that are at fault, whatever schema finds it."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from nmt.settings.base import Settings
from nmt.settings.faults import known_keys, shown, summary


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
    ("values", "line"),
    [
        ({"label": 3}, "label: found 3, expected text (in quotes)"),
        ({"sizes": [1, "2"]}, "sizes.1: found '2', expected integer (without quotes)"),
        (
            {"shapes": {"a": {"kind": "circle", "radius": 0}}},
            "shapes.a.radius: found 0, expected more than 0",
        ),
        (
            {"shapes": {"a": {"kind": "circle", "radius": 1.0, "filled": "yes"}}},
            "shapes.a.filled: found 'yes', expected true or false",
        ),
        ({"shapes": {"a": {"kind": "star"}}}, "shapes.a: found 'star', expected 'square', 'circle'"),
        ({"shapes": {"a": {"kind": "square"}}}, "shapes.a.side: missing"),
        ({"shapes": 3}, "shapes: found 3, expected keys with values"),
        ({"[key]": 3}, "[key]: unknown key; known here: label, shapes, sizes"),
        ({"shapes": {3: {"kind": "square", "side": 1}}}, "shapes.3: found 3, expected text"),
        ({"shapes": {"a": {"kind": "square", "side": 1, "edge": 2}}}, "shapes.a.edge: unknown key; did you"),
        (
            {"shapes": {"a": {"kind": "square", "side": 1, "radius": 2.0}}},
            "shapes.a.radius: unknown key; known here: kind, side",
        ),
    ],
)
def test_the_line_names_the_key_without_which_kind_it_was_taken_for(values: object, line: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Drawing.model_validate(values)
    assert summary(raised.value, Drawing).startswith(line.removesuffix(" did you")), summary(
        raised.value, Drawing
    )


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
