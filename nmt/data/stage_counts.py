"""Counts of a text at one stage of its preparation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from nmt.data.word_counts import write_word_counts

SIDES = ("source", "target")


class StageCounts:
    """Pairs with words on both sides (no others are trained on), their words and lengths, and each word's count."""

    def __init__(self) -> None:
        self.pairs = 0
        self.words: tuple[Counter[str], Counter[str]] = Counter(), Counter()
        self._lengths: tuple[Counter[int], Counter[int]] = Counter(), Counter()
        self._longer: dict[int, list[int]] = {}

    def add(self, source: str, target: str) -> None:
        """Count a pair of lines of tokens."""
        pair = source.split(), target.split()
        if not pair[0] or not pair[1]:
            return
        self.pairs += 1
        lengths = len(pair[0]), len(pair[1])
        for side in (0, 1):
            self.words[side].update(pair[side])
            self._lengths[side][lengths[side]] += 1
        row = self._longer.setdefault(max(lengths), [0, 0, 0])
        row[0] += 1
        row[1] += lengths[0]
        row[2] += lengths[1]

    def as_dict(self, name: str) -> dict[str, Any]:
        """Return the stage's `name` and `pairs`; for each side its `words`, and sentences by `lengths`.

        Under `longer` stand pairs, source words and target words by the length of a pair's longer side.
        """
        sides = {
            side: {"words": words.total(), "lengths": _by_length(lengths)}
            for side, words, lengths in zip(SIDES, self.words, self._lengths, strict=True)
        }
        return {"name": name, "pairs": self.pairs, "longer": _by_length(self._longer), **sides}

    def write_words(self, source: Path, target: Path) -> None:
        """Write the tables of each side's words."""
        for path, words in zip((source, target), self.words, strict=True):
            write_word_counts(path, words)


def _by_length(counts: dict[int, Any]) -> dict[str, Any]:
    return {str(length): counts[length] for length in sorted(counts)}
