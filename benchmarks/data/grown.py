"""A corpus that is many times as long as another, with as many new words as longer text has.

Each copy of the text spells its rarest words in another way. Heaps' law, V = K n^b, tells how many. b is measured
between half of the text and all of it.
"""

from __future__ import annotations

import io
import math
import re
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LETTERS = "bcdfghjklmnpqrst"
"""One letter for each copy, of which there are at most 16."""
_RUN = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Text:
    """Holds one side of a corpus, and how its vocabulary grows."""

    lines: list[str]
    words: int
    types: int
    exponent: float
    """The exponent b of Heaps' law."""
    rarest: list[tuple[str, list[int]]]
    """As many words with letters as a copy may respell, the rarest first, each with the numbers of its lines."""


def read(archive: Path, member: str) -> Text:
    """Read one side from a .tgz archive, and count its words."""
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
    """Return the `most` rarest words with letters. Words that are equally rare keep the text's order."""
    words = filter(_RUN.search, counts)
    places: dict[str, list[int]] = {word: [] for word in sorted(words, key=counts.__getitem__)[:most]}
    for number, line in enumerate(lines):
        for word in line.split():
            if word in places:
                places[word].append(number)
    return list(places.items())


def _new(types: int, exponent: float, copy: int) -> float:
    """Return the number of new words in copy number `copy` by Heaps' law."""
    return types * ((copy + 1) ** exponent - copy**exponent) if copy else 0.0


def respelled(text: Text, copy: int) -> list[tuple[str, list[int]]]:
    """Return the words that copy number `copy` spells in its own way: as many as Heaps' law says, or all there are."""
    return text.rarest[: round(_new(text.types, text.exponent, copy))]


def _spelling(word: str, copy: int) -> str:
    """Return the word with the copy's letter after its first run of letters."""
    return _RUN.sub(lambda run: run.group() + _LETTERS[copy], word, count=1)


def types(text: Text, times: int) -> dict[str, int]:
    """Return the number of different words in `times` copies, and the number by Heaps' law."""
    words = {word for line in text.lines for word in line.split()}
    for copy in range(times):
        words.update(_spelling(word, copy) for word, _ in respelled(text, copy))
    return {"types": len(words), "heaps": round(text.types * times**text.exponent)}


def copies(text: Text, times: int) -> Iterator[bytes]:
    """Yield `times` copies of the text as UTF-8, each with as many new words as Heaps' law says."""
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
    """Write an archive like that of the texts, `times` times as long."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for name, text in members:
            with tempfile.TemporaryFile(dir=archive.parent) as file:
                file.writelines(copies(text, times))
                entry = tarfile.TarInfo(name)
                entry.size = file.tell()
                file.seek(0)
                tar.addfile(entry, file)
