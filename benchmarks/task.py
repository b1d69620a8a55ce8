"""What every contender is given: sizes, and drawn ids, the same for all.

Ids follow Zipf's law by rank, as in a vocabulary sorted by frequency. So a batch needs about as many rows of the
embeddings as in real text. Every update gets another batch, because in training its rows also change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

SPECIALS = 4
"""The number of ids that are no words in any contender. JoeyNMT has the most: unk, pad, bos, eos."""

Words = NDArray[np.int64]


@dataclass(frozen=True)
class Sizes:
    """The sizes of the contest.

    length: positions of each source and target sentence in an update. The last is the end symbol, so length - 1 of them
    are words. hidden, embedding, maxout: n, m and l of the paper. The alignment model has n units. vocabulary: ids on
    each side, special symbols included. threads: those of each contender.
    """

    length: int = 0
    batch: int = 80
    hidden: int = 1000
    embedding: int = 620
    maxout: int = 500
    vocabulary: int = 30_000
    threads: int = 2


SIZES = {name: value for name, value in asdict(Sizes()).items() if name != "length"}
"""The sizes that are options of a contest, with their defaults."""


def draw(sizes: Sizes, update: int) -> tuple[Words, Words]:
    """Draw source and target words of one update, (batch, length - 1) each, without end symbols."""
    generator = np.random.default_rng((1, sizes.length, update))
    source, target = _ids(generator.random((2, sizes.batch, sizes.length - 1)), sizes.vocabulary)
    return source, target


def draw_sentences(lengths: Sequence[int], vocabulary: int, number: int) -> list[list[int]]:
    """Draw sentences of these lengths for one batch of a search, without end symbols."""
    generator = np.random.default_rng((2, number))
    return [_ids(generator.random(length), vocabulary).tolist() for length in lengths]


def _ids(shares: NDArray[np.float64], vocabulary: int) -> Words:
    return SPECIALS + np.searchsorted(zipf(vocabulary - SPECIALS), shares, side="right")


@cache
def zipf(words: int) -> NDArray[np.float64]:
    """Return cumulative probabilities of ranks 1..words, each in proportion to 1 / rank."""
    shares = np.cumsum(1 / np.arange(1, words + 1))
    cumulative: NDArray[np.float64] = shares / shares[-1]
    return cumulative
