"""Shards of a corpus: blocks of lines go to the shards in turn, and every line keeps a global number."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import LineWriter, line_writer, read_pairs

Line = TypeVar("Line")
LineNumber = TypeVar("LineNumber", int, NDArray[np.int64])

Corpora = Mapping[str, Sequence[tuple[Path, Path]]]
"""Token files (source, target) of all shards of each corpus, in order."""

BLOCK_LINES = 10_000


def compute_shard_number(line_number: int, shard_count: int) -> int:
    """Return the shard (from 0) of a line with this global number (from 0)."""
    return line_number // BLOCK_LINES % shard_count


def compute_global_line(line_in_shard: LineNumber, shard: int, shard_count: int) -> LineNumber:
    """Return the global number of a line, or of several lines, given the number (from 0) within one of the shards."""
    block, line_in_block = divmod(line_in_shard, BLOCK_LINES)
    return (block * shard_count + shard) * BLOCK_LINES + line_in_block


def make_random_key(seed: int, corpus: str, line_number: int, size: int) -> bytes:
    """Return `size` random bytes for a global line number, which do not depend on the number of shards."""
    return hashlib.blake2b(f"{seed}\t{corpus}\t{line_number}".encode(), digest_size=size).digest()


def read_numbered_pairs(corpora: Corpora, label: str) -> Iterator[tuple[str, int, tuple[str, str]]]:
    """Yield the pairs of all shards, each with its corpus and its global line number.

    The shards come one after the other, so the numbers are not in order. A progress bar with this label is shown.
    """
    files: list[Path] = []
    for shards in corpora.values():
        for sides in shards:
            files += sides
    with Progress.over_files(files, label) as progress:
        for corpus, shards in corpora.items():
            for shard_number, (source, target) in enumerate(shards):
                for line_in_shard, pair in enumerate(read_pairs(source, target, progress)):
                    yield corpus, compute_global_line(line_in_shard, shard_number, len(shards)), pair


def merge_shards(corpus: str, shards: Sequence[Iterable[Line]]) -> Iterator[Line]:
    """Yield the lines of a corpus in the order of their global numbers, given the lines of each shard.

    All shards are open at the same time; each compressed file takes about 3 MB of memory.

    Raises:
        UserError: the shards cannot be from one corpus, since one of them ends too early.
    """
    # take a block of each shard in turn, until a block is not full
    remaining_lines = [iter(shard) for shard in shards]
    for block in count():
        shard_number = block % len(shards)
        lines_in_block = 0
        for line in islice(remaining_lines[shard_number], BLOCK_LINES):
            lines_in_block += 1
            yield line
        if lines_in_block < BLOCK_LINES:
            break

    # the corpus ends in this block, so no other shard may have lines left
    for lines in remaining_lines:
        if next(lines, None) is not None:
            raise UserError(
                f"{corpus}: shard {shard_number} (from 0) of {len(shards)} ends before others; make them again"
            )


class ShardFiles:
    """Writes the lines of a corpus, in order, to the files of its shards.

    Only one file is open at a time, so that memory does not grow with their number. With several shards, each block is
    a separate compressed stream.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._shard_number: int | None = None
        self._writer: LineWriter
        self._stack = ExitStack()

    def open_writer(self, line_number: int) -> LineWriter:
        """Return the writer of the shard that has this global line number. Lines are written in order."""
        shard_number = compute_shard_number(line_number, len(self._paths))
        if shard_number != self._shard_number:
            self._stack.close()
            self._writer = self._stack.enter_context(line_writer(self._paths[shard_number]))
            self._shard_number = shard_number
        return self._writer

    def __enter__(self) -> ShardFiles:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        self._stack.close()
        for path in self._paths:
            if error_type is None and not path.exists():
                with line_writer(path):
                    pass  # a shard without lines has a file, too
