"""How a corpus is cut into shards: blocks of lines dealt in turn; every line keeps a global number."""

from __future__ import annotations

BLOCK_LINES = 10_000


def shard_of(line: int, shards: int) -> int:
    """Shard (from 0) in which global line number `line` (from 0) lies."""
    return line // BLOCK_LINES % shards


def global_line(line: int, shard: int, shards: int) -> int:
    """Global number of the `line`-th line (from 0) of `shard`."""
    block, rest = divmod(line, BLOCK_LINES)
    return (block * shards + shard) * BLOCK_LINES + rest
