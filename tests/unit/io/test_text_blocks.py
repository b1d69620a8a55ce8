"""What is done to a block of lines is what Python does line by line."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.io import text_blocks
from nmt.io.text_blocks import Lines, holds, in_step

WHITE = "".join(chr(code) for code in range(0x10000) if chr(code).isspace() and chr(code) != "\n")
ODD = st.text(st.sampled_from(f"ab\0\x07\x1béœ’𝄞\ufeff\u200b{WHITE}"), max_size=20)
LINE = ODD.map(str.encode) | st.binary(max_size=20).map(lambda data: data.replace(b"\n", b""))


def block(lines: list[bytes]) -> Lines:
    return Lines.of(b"".join(line + b"\n" for line in lines))


@given(lines=st.lists(LINE))
def test_words_are_those_of_split(lines: list[bytes]) -> None:
    expected = [len(line.decode(errors="replace").split()) for line in lines]
    assert block(lines).words().tolist() == expected


@given(lines=st.lists(ODD))
def test_characters_are_those_of_len(lines: list[str]) -> None:
    assert block([line.encode() for line in lines]).characters().tolist() == [*map(len, lines)]


@given(text=ODD, wanted=st.sampled_from(["\u2028", "\x85\u2028\u2029\ufeff", "é’"]))
def test_characters_are_found(text: str, wanted: str) -> None:
    assert holds(text.encode() + b"\n", wanted) == any(character in text for character in wanted)


@given(lines=st.lists(LINE, max_size=40), size=st.integers(1, 30), ended=st.booleans())
def test_blocks_are_the_lines_of_the_stream(lines: list[bytes], size: int, ended: bool) -> None:
    text = b"\n".join(lines) + b"\n" * ended
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK", size)
        blocks = [*text_blocks.line_blocks(io.BytesIO(text))]
    whole = text if text.endswith(b"\n") or not text else text + b"\n"
    assert b"".join(found.data for found in blocks) == whole
    assert all(len(found) == found.data.count(b"\n") > 0 for found in blocks)


SIZES = st.lists(st.integers(1, 5), max_size=6)


@given(left=SIZES, right=SIZES)
def test_sides_go_in_step_and_a_rest_comes_alone(left: list[int], right: list[int]) -> None:
    sides = [
        [block([b"%d" % (sum(sizes[:n]) + line) for line in range(size)]) for n, size in enumerate(sizes)]
        for sizes in (left, right)
    ]
    found: tuple[list[bytes], list[bytes]] = ([], [])
    for pair in in_step(*sides):
        if all(map(len, pair)):
            assert len(pair[0]) == len(pair[1])
            assert pair[0].split() == pair[1].split()
        for lines, piece in zip(found, pair, strict=True):
            lines += piece.split()
    assert [*map(len, found)] == [sum(left), sum(right)]
