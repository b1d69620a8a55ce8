"""Which YAML is read, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.yaml_text import parse, parsed_or_text
from tests.messages import check
from tests.running import ROOT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e-6", 1e-6),
        ("1:30", "1:30"),
        ("yes", "yes"),
        ("off", "off"),
        ("1_000", "1_000"),
        ("2014-02-30", "2014-02-30"),
        ("2014-02-01", "2014-02-01"),
        ("0x_", "0x_"),
        (".inf", float("inf")),
        ("True", True),
        ("~", None),
        ("", None),
        ("{a: &x [1], b: *x}", {"a": [1], "b": [1]}),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "seed: {{ SEED }}",
        "null: 1",
        "{? : 1}",
        "2014: 1",
        "a: 1\na: 2",
        "1" * 5000,
        "{a: " * 300 + "}" * 300,
        "&x {a: *x}",
        "!!timestamp 2014-99-99",
        "!!int abc",
        "\0",
        "[1",
    ],
    ids=range(12),
)
def test_what_is_refused_is_one_short_line(text: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse(text)
    check(raised.value)
    assert len(str(raised.value)) < 250
    assert parsed_or_text(text) == text


@pytest.mark.fuzz
@given(st.text(st.sampled_from("01:.-+ex_ao~{}[]!&*?|>'\"\n\t ,#@%nulyes")))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed_or_text(text)


@pytest.mark.parametrize("file", [ROOT / "config.yaml", *ROOT.glob("experiments/*/config.yaml")])
def test_the_settings_of_this_repository_mean_the_same_to_every_reader(file: Path) -> None:
    """Editors and other programs read YAML 1.1."""
    text = file.read_text(encoding="utf-8")
    old: Any = yaml.safe_load(text)
    assert parse(text) == old
