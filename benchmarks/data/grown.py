"""A corpus many times the size of another, with new words as growing text has them.

Each copy of the text spells its rarest words in another way. How many is Heaps' law, V = K n^b: b is measured between
half of the text and all of it.
"""

from __future__ import annotations

import io
import math
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LETTERS = "bcdfghjklmnpqrst"
_RUN = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Text:
    """One side of a corpus, and how its vocabulary grows."""

    lines: list[str]
    words: int
    types: int
    exponent: float
    """Heaps' b."""
    rarest: list[tuple[str, list[int]]]
    """Words with letters, the rarest first, with the lines that they stand in: as many as a copy may respell."""


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
    most = round(_new(len(counts), exponent, 1))
    return Text(lines, counts.total(), len(counts), exponent, _rarest(lines, counts, most))


def _rarest(lines: list[str], counts: Counter[str], most: int) -> list[tuple[str, list[int]]]:
    """The `most` rarest words with letters; between words that are as rare, the text's order decides."""
    words = filter(_RUN.search, counts)
    places: dict[str, list[int]] = {word: [] for word in sorted(words, key=counts.__getitem__)[:most]}
    for number, line in enumerate(lines):
        for word in line.split():
            if word in places:
                places[word].append(number)
    return list(places.items())


def _new(types: int, exponent: float, copy: int) -> float:
    """How many words copy number `copy` brings by Heaps' law."""
    return types * ((copy + 1) ** exponent - copy**exponent) if copy else 0.0


def respelled(text: Text, copy: int) -> list[tuple[str, list[int]]]:
    """The words that copy number `copy` spells in its own way: as many as Heaps' law wants, if there are so many."""
    return text.rarest[: round(_new(text.types, text.exponent, copy))]


def _spelling(word: str, copy: int) -> str:
    """The word with the copy's letter at the end of its first run of letters."""
    return _RUN.sub(lambda run: run.group() + _LETTERS[copy], word, count=1)


def types(text: Text, times: int) -> dict[str, int]:
    """Different words of `times` copies, and how many Heaps' law has."""
    words = {word for line in text.lines for word in line.split()}
    for copy in range(times):
        words.update(_spelling(word, copy) for word, _ in respelled(text, copy))
    return {"types": len(words), "heaps": round(text.types * times**text.exponent)}


def copies(text: Text, times: int) -> Iterator[bytes]:
    """The text `times` times over, as UTF-8, each time with as many new words as Heaps' law wants."""
    for copy in range(times):
        changes: dict[int, dict[str, str]] = {}
        for word, numbers in respelled(text, copy):
            for number in numbers:
                changes.setdefault(number, {})[word] = _spelling(word, copy)
        lines = list(text.lines)
        for number, new in changes.items():
            lines[number] = " ".join(new.get(word, word) for word in lines[number].split(" "))
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
