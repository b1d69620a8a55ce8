"""Lines from files and pipes: cut at \\n only, in groups, at once where the input pauses, whatever bytes they hold."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nmt.io.text_files import LineStream, open_lines, paired_groups
from tests.bitexts import write_text
from tests.messages import refused


def stream(parts: list[bytes]) -> LineStream:
    rest = iter([*parts, b""])
    return LineStream("test", lambda: next(rest), None)


@given(st.lists(st.binary(min_size=1, max_size=12), max_size=12), st.integers(1, 5))
def test_lines_do_not_depend_on_how_the_bytes_come(parts: list[bytes], size: int) -> None:
    whole = b"".join(parts)
    expected = whole.split(b"\n")
    if not expected[-1]:
        expected.pop()
    groups = list(stream(parts).groups(size))
    assert [len(group) for group in groups[:-1]] == [size] * (len(groups) - 1)
    assert [line for group in groups for line in group] == [
        (line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line).decode("utf-8", "replace")
        for number, line in enumerate(line.removesuffix(b"\r") for line in expected)
    ]


def test_only_line_feeds_end_lines_and_bad_bytes_are_counted() -> None:
    lines = stream(["a\u2028b\x85c\vd\r\n".encode(), b"\xff\n\n", b"\xed\xa0\x80 end"])
    assert list(lines.groups(9)) == [["a\u2028b\x85c\vd", "\ufffd", "", "\ufffd\ufffd\ufffd end"]]
    assert (lines.replaced, lines.first_replaced) == (2, 2)


def test_a_group_ends_where_the_input_pauses() -> None:
    reading, writing = os.pipe()
    lines = LineStream("pipe", lambda: os.read(reading, 100), reading)
    groups = lines.groups(100)
    os.write(writing, b"one\ntwo\nthr")
    assert next(groups) == ["one", "two"]
    threading.Timer(0.2, lambda: (os.write(writing, b"ee\n"), os.close(writing))).start()
    assert list(groups) == [["three"]]
    os.close(reading)


def test_a_group_of_long_lines_is_short() -> None:
    groups = list(stream([b"x" * 200_000 + b"\n"] * 5).groups(100))
    assert [len(group) for group in groups] == [2, 2, 1]


def test_a_line_without_an_end_is_refused() -> None:
    parts = (b"x" * (1 << 20) for _ in range(1 << 20))
    with refused():
        list(LineStream("endless", lambda: next(parts)).groups(1))


def test_a_file_says_how_much_of_it_is_done(tmp_path: Path) -> None:
    for name in ("text", "text.gz"):
        # compressed, more than gzip reads at once
        write_text(tmp_path / name, (f"line {number}" for number in range(400_000)))
        with open_lines(tmp_path / name) as lines:
            assert lines.size == (tmp_path / name).stat().st_size
            done = [lines.bytes_done for _ in lines.groups(1000)]
        assert done == sorted(done) and done[0] < done[-1] == lines.size
    assert stream([b"a"]).size is None


def test_sides_stay_in_step() -> None:
    pairs = list(paired_groups(stream([b"a\nb\nc\n"]), stream([b"A\nB\nC\n"]), 2))
    assert pairs == [[("a", "A"), ("b", "B")], [("c", "C")]]
    with refused():
        list(paired_groups(stream([b"a\nb\n"]), stream([b"A\n"]), 2))
    with refused():
        list(paired_groups(stream([b"a\n"]), stream([b"A\nB\n"]), 2))
