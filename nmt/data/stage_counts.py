"""Counts of a text at one stage of its preparation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from nmt.data.word_counts import write_word_counts

SIDES = ("source", "target")


class StageCounts:
    """Pairs with words on both sides (no others are trained on), and each word's count."""

    def __init__(self) -> None:
        self.pairs = 0
        self.words: tuple[Counter[str], Counter[str]] = Counter(), Counter()

    def add(self, source: str, target: str) -> None:
        """Count a pair of lines of tokens."""
        pair = source.split(), target.split()
        if not pair[0] or not pair[1]:
            return
        self.pairs += 1
        for words, line in zip(self.words, pair, strict=True):
            words.update(line)

    def as_dict(self, name: str) -> dict[str, Any]:
        """Return the stage's `name` and `pairs`, and for each side its `words`."""
        sides = {side: {"words": words.total()} for side, words in zip(SIDES, self.words, strict=True)}
        return {"name": name, "pairs": self.pairs, **sides}

    def write_words(self, source: Path, target: Path) -> None:
        """Write the tables of each side's words."""
        for path, words in zip((source, target), self.words, strict=True):
            write_word_counts(path, words)
