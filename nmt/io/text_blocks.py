"""Text as blocks of whole lines, for operations on a megabyte of lines at once.

A loop over the lines of 41 million pairs would take minutes; these operations take seconds. Their results are those of
Python's `str.split` and `len` for each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np

from nmt.errors import UserError
from nmt.io.formats import decompressed, naming_damage
from nmt.io.progress import Progress
from nmt.io.text_files import LONGEST_LINE, too_long

BLOCK = 1 << 20

_CHUNK = 1 << 17
_NEWLINE, _SPACE = ord("\n"), ord(" ")
_NO_BREAK_SPACE = "\u00a0".encode()
_WIDE_SPACES = "".join(chr(code) for code in range(0x80, 0x10000) if chr(code).isspace() and code != 0xA0)
"""White space of two or three bytes, without the no-break space, which is frequent in French."""
_WIDE_SPACE = re.compile(b"|".join(space.encode() for space in _WIDE_SPACES))
_WHITE = bytes(
    byte if byte >= _SPACE or byte == _NEWLINE else _SPACE if chr(byte).isspace() else ord("x")
    for byte in range(256)
)
"""Translation table that maps ASCII white space to spaces, and other control characters to letters."""


@dataclass(frozen=True)
class Lines:
    """Some lines: their bytes, each line ended by "\\n", and the positions after these "\\n" (int64, one per line)."""

    data: bytes
    ends: np.ndarray

    @classmethod
    def of(cls, data: bytes) -> Lines:
        """The lines of `data`, which ends in "\\n" unless it is empty."""
        return cls(data, np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1)

    def __len__(self) -> int:
        return len(self.ends)

    def cut(self, lines: int) -> tuple[Lines, Lines]:
        """Return the first lines, and the remaining lines."""
        place = int(self.ends[lines - 1]) if lines else 0
        head = Lines(self.data[:place], self.ends[:lines])
        return head, Lines(self.data[place:], self.ends[lines:] - place)

    def words(self) -> np.ndarray:
        """Return the number of words of each line, as `str.split` counts them (int64)."""
        text = self.data.replace(_NO_BREAK_SPACE, b"  ")
        if holds(text, _WIDE_SPACES):
            text = _WIDE_SPACE.sub(lambda space: b" " * len(space.group()), text)
        white = np.frombuffer(text.translate(_WHITE), np.uint8) <= _SPACE
        last_letters = np.flatnonzero(white[1:] > white[:-1])
        return np.diff(np.searchsorted(last_letters, self.ends - 1), prepend=0)

    def characters(self) -> np.ndarray:
        """Characters of each line without its "\\n", if it is UTF-8 (int64)."""
        begins = (np.frombuffer(self.data, np.uint8) & 0xC0) != 0x80
        before = np.concatenate(([0], np.cumsum(begins)))
        counts: np.ndarray = np.diff(before[self.ends], prepend=0) - 1
        return counts

    def split(self) -> list[bytes]:
        """Return the lines one by one, without their "\\n"."""
        return self.data[:-1].split(b"\n") if self.data else []


def holds(data: bytes, characters: str) -> bool:
    """Return whether UTF-8 text contains any of these characters of two or three bytes, faster than `in` for each."""
    wanted = {character.encode() for character in characters}
    leads = {mark[0] for mark in wanted}
    is_lead = np.frombuffer(data.translate(bytes(byte in leads for byte in range(256))), bool)
    return any(
        data[place : place + 2] in wanted or data[place : place + 3] in wanted
        for place in np.flatnonzero(is_lead).tolist()
    )


def line_blocks(stream: IO[bytes]) -> Iterator[Lines]:
    """Yield the lines of a stream, about a megabyte at a time; a last line without "\\n" gets one.

    Raises:
        UserError: a line is longer than `LONGEST_LINE`.
    """
    lines = 0
    pending: list[bytes] = []
    while chunk := stream.read(BLOCK):
        end = chunk.rfind(b"\n") + 1
        if end:
            block = Lines.of(b"".join((*pending, chunk[:end])))
            lines += len(block)
            yield block
            pending = [chunk[end:]]
        else:
            pending.append(chunk)
        if sum(map(len, pending)) > LONGEST_LINE:
            raise too_long(f"line {lines + 1}", LONGEST_LINE)
    if last := b"".join(pending):
        yield Lines.of(last + b"\n")


def read_blocks(path: str | Path, progress: Progress | None = None) -> Iterator[Lines]:
    """Yield a file's text as `line_blocks` does, with any bytes. A `UserError` names a damaged file.

    `progress` counts the bytes read from the disk.
    """
    path, done = Path(path), 0
    try:
        with (
            path.open("rb", buffering=_CHUNK) as raw,
            naming_damage(lambda what: f"{path}: damaged ({what})"),
        ):
            for block in line_blocks(cast(IO[bytes], decompressed(raw))):
                yield block
                if progress is not None:
                    progress.update(raw.tell() - done)
                    done = raw.tell()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UserError as error:
        raise UserError(f"{path}, {error}") from None


def in_step(sources: Iterable[Lines], targets: Iterable[Lines]) -> Iterator[tuple[Lines, Lines]]:
    """Yield equal numbers of lines of both sides at a time, and the rest of the longer side alone."""
    empty = Lines.of(b"")
    ways = iter(sources), iter(targets)
    left, right = empty, empty
    while True:
        left = left if len(left) else next(ways[0], empty)
        right = right if len(right) else next(ways[1], empty)
        both = min(len(left), len(right))
        if not both:
            break
        (head, left), (other, right) = left.cut(both), right.cut(both)
        yield head, other
    while len(left) or len(right):
        yield left, right
        left, right = next(ways[0], empty), next(ways[1], empty)
