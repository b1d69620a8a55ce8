"""Distributing a corpus over shards, and reading it back in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.shards import BLOCK_LINES, compute_shard_number, merge_shards
from tests.messages import refused


def split_lines(lines: int, shards: int) -> list[list[int]]:
    """The numbers of the lines of each shard."""
    return [
        [line for line in range(lines) if compute_shard_number(line, shards) == shard]
        for shard in range(shards)
    ]


@given(blocks=st.integers(0, 7), rest=st.sampled_from([0, 1, BLOCK_LINES - 1]), shards=st.integers(1, 5))
def test_merged_shards_are_in_order(blocks, rest, shards):
    lines = blocks * BLOCK_LINES + rest
    assert list(merge_shards("c", split_lines(lines, shards))) == list(range(lines))


@pytest.mark.parametrize(("shard", "line"), [(0, -1), (2, 5)])
def test_missing_line_is_refused(shard, line):
    shards = split_lines(4 * BLOCK_LINES + 5, 3)
    del shards[shard][line]
    with refused():
        list(merge_shards("c", shards))
