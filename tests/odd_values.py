"""What property tests over input from elsewhere share: odd values, damage to files, and what `nmt` may say of it."""

import copy
import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import strategies as st

from nmt.cli import main
from nmt.errors import printable

NUMBERS = st.integers() | st.floats() | st.sampled_from([2**31, 2**63, 10**30, 10**4000, 1e308])
JUNK = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
DEEP = "[" * 100_000


@st.composite
def altered_values(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value in which something at any depth is another, gone, or new."""
    value = place = copy.deepcopy(value)
    parent: Any = None
    key: Any = None
    while isinstance(place, dict | list) and place and (parent is None or draw(st.integers(0, 3))):
        parent = place
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        place = parent[key]
    if parent is None:
        return draw(JUNK)
    match draw(st.sampled_from(["other", "other", "gone", "new"])):
        case "gone":
            del parent[key]
        case "new" if isinstance(parent, dict):
            parent[draw(st.text(max_size=4))] = draw(JUNK)
        case _:
            parent[key] = draw(JUNK)
    return value


@st.composite
def altered_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """A file of which some bytes are others, or the end is missing."""
    damaged = bytearray(data)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(data)))
        value = draw(st.binary(min_size=1, max_size=4))
        damaged[place : place + len(value)] = value
    return bytes(damaged[: draw(st.integers(0, len(data)) | st.just(len(damaged)))])


@st.composite
def altered_json(draw: st.DrawFn, data: bytes) -> bytes:
    """A JSON file with another value, of other bytes, or no JSON at all."""
    kind = draw(st.sampled_from(["value", "value", "value", "bytes", "deep"]))
    if kind == "bytes":
        return draw(altered_bytes(data))
    if kind == "deep":
        return DEEP.encode()
    # digits of numbers that Python refuses to print by default
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(draw(altered_values(json.loads(data)))).encode()
    finally:
        sys.set_int_max_str_digits(limit)


def said(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """What `nmt` says when it ends, started in this process: an error of one line, or nothing where it succeeds.

    Whatever else it ends with, such as an exception, fails the test.
    """
    output = io.TextIOWrapper(io.BytesIO())
    errors = io.StringIO()
    with (
        patch.object(sys, "argv", ["nmt", *map(str, arguments)]),
        patch.dict("os.environ", environment or {}),
        redirect_stdout(output),
        redirect_stderr(errors),
        pytest.raises(SystemExit) as left,
    ):
        main()
    text = errors.getvalue()
    assert "Traceback" not in text
    if left.value.code in (None, 0):
        return ""
    assert left.value.code == 2, text
    if text.startswith("Usage:"):
        return text
    _, mark, line = text.rpartition("error: ")
    problem = line.removesuffix("\n")
    assert mark and problem != line and printable(problem[:1500]) == problem[:1500], text
    return line
