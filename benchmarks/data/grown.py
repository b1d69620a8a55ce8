"""A corpus many times the size of another, with new words as growing text has them.

Each copy of the text spells some of the words that occur once in another way. How many is Heaps' law, V = K n^b: b is
measured between half of the text and all of it.
"""

from __future__ import annotations

import io
import math
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LETTERS = "bcdfghjklmnpqrst"


@dataclass(frozen=True)
class Text:
    """One side of a corpus, and how its vocabulary grows."""

    lines: list[str]
    words: int
    types: int
    exponent: float
    """Heaps' b."""
    once: list[tuple[int, str]]
    """Words of letters only that occur once, with the line that they stand in."""


def read(archive: Path, member: str) -> Text:
    """Read a side out of a .tgz archive and count its words."""
    with tarfile.open(archive) as tar:
        file = tar.extractfile(member)
        assert file is not None, f"{archive} has no member {member}"
        lines = (
            io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n").read().split("\n")[:-1]
        )
    counts: Counter[str] = Counter()
    half = 0
    for number, line in enumerate(lines):
        counts.update(line.split())
        if number == len(lines) // 2:
            half, half_words = len(counts), counts.total()
    exponent = math.log(len(counts) / half) / math.log(counts.total() / half_words)
    once = [
        (number, word)
        for number, line in enumerate(lines)
        for word in line.split()
        if counts[word] == 1 and word.isalpha()
    ]
    return Text(lines, counts.total(), len(counts), exponent, once)


def new_words(text: Text, copy: int) -> list[tuple[int, str]]:
    """The words that copy number `copy` spells in its own way: as many as Heaps' law wants, if there are so many."""
    wanted = text.types * ((copy + 1) ** text.exponent - copy**text.exponent) if copy else 0.0
    return text.once[: round(wanted)]


def types(text: Text, times: int) -> int:
    """Different words of `times` copies."""
    return text.types + sum(len(new_words(text, copy)) for copy in range(times))


def copies(text: Text, times: int) -> Iterator[bytes]:
    """The text `times` times over, as UTF-8, each time with as many new words as Heaps' law wants."""
    for copy in range(times):
        lines = list(text.lines)
        for number, word in new_words(text, copy):
            lines[number] = lines[number].replace(word, f"{word}{_LETTERS[copy]}", 1)
        yield ("\n".join(lines) + "\n").encode()


def write(archive: Path, members: Sequence[tuple[str, Text]], times: int) -> None:
    """Write an archive like the one that the texts came from, `times` times as long."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for name, text in members:
            entry = tarfile.TarInfo(name)
            entry.size = sum(map(len, copies(text, times)))
            tar.addfile(entry, io.BufferedReader(_Joined(copies(text, times))))


class _Joined(io.RawIOBase):
    """Pieces of bytes as a file to read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
