"""Counts of the words of a text, as tables with a word and its count on each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines


def write_word_counts(path: Path, counts: Mapping[str, int]) -> None:
    """Write the words in code point order."""
    with write_lines(path) as writer:
        for word in sorted(counts):
            writer.write(f"{word}\t{counts[word]}")


def read_word_counts(paths: Iterable[Path]) -> Counter[str]:
    """Return the sum of some tables."""
    found: Counter[str] = Counter()
    for path in paths:
        for number, line in enumerate(read_lines(path), 1):
            word, _, count = line.partition("\t")
            if not count.isdecimal():
                raise UserError(f"{path}, line {number}: found {line[:60]!r}, expected a word and its count")
            found[word] += int(count)
    return found


def count_words(paths: Iterable[Path]) -> Counter[str]:
    """Return the counts of all words of token files."""
    paths, found = list(paths), Counter[str]()
    with Progress.over_files(paths, "vocabulary") as progress:
        for path in paths:
            for line in read_lines(path, progress):
                found.update(line.split())
    return found
