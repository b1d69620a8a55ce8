"""Nested settings as flat keys."""

from __future__ import annotations

from nmt.settings.base import differences, flatten


def test_nested_keys_become_dotted_ones() -> None:
    assert flatten({"a": {"b": 1, "c": {"d": [2]}}, "e": None}) == {"a.b": 1, "a.c.d": [2], "e": None}


def test_differences_name_each_key_with_both_values() -> None:
    was, now = {"a": 1, "b": 2, "gone": 3}, {"a": 1, "b": 4}
    assert differences(was, now) == "b was 2 and is now 4, gone was 3 and is now None"
    assert differences(was, now, frozenset({"b", "gone"})) == ""
