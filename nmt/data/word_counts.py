"""Counts all distinct words of a text in bounded memory. Counts that do not fit are stored on the disk, sorted."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from nmt.io.files import temporary_folder
from nmt.io.text_files import read_lines, write_lines

IN_MEMORY = 2_000_000
"""Maximum number of distinct words in memory, besides those of one line: about 300 MB."""


class WordCounts:
    """Counts of words. Iteration yields (word, count) once per word, in an undefined order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts: Counter[str] = Counter()
        self._runs: list[Path] = []

    def add(self, words: Iterable[str]) -> None:
        """Count `words`, which may not contain tabs or line breaks."""
        self._counts.update(words)
        if len(self._counts) > IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        run = self._folder / f"{len(self._runs)}.zst"
        with write_lines(run) as writer:
            for word, count in sorted(self._counts.items()):
                writer.write(f"{word}\t{count}")
        self._runs.append(run)
        self._counts.clear()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        if not self._runs:
            yield from self._counts.items()
            return
        runs = [*map(_read, self._runs), iter(sorted(self._counts.items()))]
        for word, same in groupby(heapq.merge(*runs, key=itemgetter(0)), key=itemgetter(0)):
            yield word, sum(count for _, count in same)


def _read(run: Path) -> Iterator[tuple[str, int]]:
    for line in read_lines(run):
        word, count = line.split("\t")
        yield word, int(count)


@contextmanager
def word_counts(beside: Path) -> Iterator[WordCounts]:
    """Provide counts whose overflow is stored beside the path `beside`, where there is space, until the block ends."""
    with temporary_folder(beside.parent, f".{beside.name}.counts-") as folder:
        yield WordCounts(folder)
