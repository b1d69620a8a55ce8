"""Perplexities of a text under language models with different vocabularies, so that they can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Perplexity:
    """Sums over a text. `known` counts words, and end symbols, that every model of the comparison knows."""

    words: int = 0
    known: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    log10: dict[str, float] = field(default_factory=dict)

    def perplexities(self) -> dict[str, float]:
        """10 to the mean negative log10 over the words that all models know."""
        return {name: math.pow(10, -total / self.known) for name, total in self.log10.items()}

    def unknown_rates(self) -> dict[str, float]:
        """Share of words that a model does not know."""
        return {name: count / self.words for name, count in self.unknown.items()}


def compare(models: Mapping[str, Any], lines: Iterable[str]) -> Perplexity:
    """Score token lines with several KenLM models at once.

    A word that some model does not know is left out for all: its probability would say more about the size of a
    vocabulary than about the text. It stays in the histories of the words that follow.
    """
    found = Perplexity(unknown=dict.fromkeys(models, 0), log10=dict.fromkeys(models, 0.0))
    for line in lines:
        found.words += len(line.split())
        scored = {name: list(model.full_scores(line)) for name, model in models.items()}
        for name, words in scored.items():
            found.unknown[name] += sum(unknown for _, _, unknown in words)
        known = [not any(at[2] for at in place) for place in zip(*scored.values(), strict=True)]
        found.known += sum(known)
        for name, words in scored.items():
            found.log10[name] += sum(word[0] for word, keep in zip(words, known, strict=True) if keep)
    return found
