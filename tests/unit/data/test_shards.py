"""Dealing a corpus to shards, and reading it back in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.shards import BLOCK_LINES, global_line, merge_shards, shard_of
from tests.messages import refused


def dealt(lines: int, shards: int) -> list[list[int]]:
    return [[line for line in range(lines) if shard_of(line, shards) == shard] for shard in range(shards)]


@given(blocks=st.integers(0, 7), rest=st.sampled_from([0, 1, BLOCK_LINES - 1]), shards=st.integers(1, 5))
def test_a_corpus_comes_back_in_order(blocks: int, rest: int, shards: int) -> None:
    lines = blocks * BLOCK_LINES + rest
    assert [*merge_shards("c", dealt(lines, shards))] == [*range(lines)]


@given(line=st.integers(0, 10**9), shards=st.integers(1, 200))
def test_a_line_has_one_place(line: int, shards: int) -> None:
    block = line // BLOCK_LINES
    local = block // shards * BLOCK_LINES + line % BLOCK_LINES
    assert global_line(local, shard_of(line, shards), shards) == line


def test_lines_are_taken_as_they_are_asked_for() -> None:
    taken = merge_shards("c", [iter(range(BLOCK_LINES)), (1 // 0 for _ in range(1))])
    assert [next(taken) for _ in range(BLOCK_LINES)] == [*range(BLOCK_LINES)]
    with pytest.raises(ZeroDivisionError):
        next(taken)


@pytest.mark.parametrize(("shard", "place"), [(0, -1), (2, 5)])
def test_shards_that_lack_a_line_are_refused(shard: int, place: int) -> None:
    shards = dealt(4 * BLOCK_LINES + 5, 3)
    del shards[shard][place]
    with refused():
        list(merge_shards("c", shards))
