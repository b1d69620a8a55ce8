from __future__ import annotations

import pytest

from nmt.data.preparation import FAULT_NAMES, REASONS, Cleaner
from nmt.settings.text import Cleaning

LIMITS = Cleaning(max_words=4, max_ratio=2.0)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a", "b", None),
        ("", "b", "empty"),
        ("a", " \u00a0\t", "empty"),
        ("\0\r", "b", "empty"),
        ("a b c d", "a b c d", None),
        ("a b c d e", "a b c d", "too_long"),
        ("a b c d", "a b c d e", "too_long"),
        ("a\u00a0b\u3000c d", "a b c d", None),
        ("a b", "a b c d", None),
        ("a", "a b c", "ratio"),
        ("a b c", "a", "ratio"),
    ],
)
def test_reasons(source: str, target: str, expected: str | None) -> None:
    clean = Cleaner(LIMITS)
    assert (clean(source, target) is None) == (expected is not None)
    assert [reason for reason in REASONS if clean.counts[reason]] == [expected] * (expected is not None)


def test_without_limits_only_empty_sides_go() -> None:
    clean = Cleaner(Cleaning())
    assert clean("a " * 500, "b" * 10_000)
    assert clean("a", "") is None


FAULTY = {
    "invalid_utf8": (b"a\xe9b \xff", "a\ufffdb \ufffd"),
    "byte_order_mark": ("\ufeffa b".encode(), "a b"),
    "carriage_return": (b"a b\r\r", "a b"),
    "line_separators": ("a\u2028b\x85c\rd\x0be".encode(), "a b c d e"),
    "control_characters": (b"a\0b \x1cc\x07", "ab c"),
}


@pytest.mark.parametrize("fault", FAULT_NAMES)
@pytest.mark.parametrize("side", [0, 1])
def test_odd_characters_are_repaired_and_counted(fault: str, side: int) -> None:
    text, repaired = FAULTY[fault]
    pair = ["deux «b»", "deux «b»"]
    pair[side] = text.decode("utf-8", "surrogateescape")
    clean = Cleaner(Cleaning())
    found = clean(pair[0], pair[1])
    pair[side] = repaired
    assert found == tuple(pair)
    assert {name for name, count in clean.counts.items() if count and name.endswith(FAULT_NAMES)} == {
        f"{('source', 'target')[side]}_{fault}"
    }
