"""The text of the contest: drawn ids, the same for every contender.

Ids follow Zipf's law by rank, as in a vocabulary sorted by frequency. So a batch needs about as many rows of the
embeddings as in real text. Every update gets another batch, because in training its rows also change.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.sizes import Sizes

SPECIALS = 4
"""The number of ids that are no words in any contender. JoeyNMT has the most: unk, pad, bos, eos."""

Words = NDArray[np.int64]


def draw(sizes: Sizes, update: int) -> tuple[Words, Words]:
    """Draw source and target words of one update, (batch, length - 1) each, without end symbols."""
    generator = np.random.default_rng((1, sizes.length, update))
    cumulative = zipf(sizes.vocabulary - SPECIALS)
    shape = (2, sizes.batch, sizes.length - 1)
    source, target = SPECIALS + np.searchsorted(cumulative, generator.random(shape), side="right")
    return source, target


@cache
def zipf(words: int) -> NDArray[np.float64]:
    """Return cumulative probabilities of ranks 1..words, each in proportion to 1 / rank."""
    shares = np.cumsum(1 / np.arange(1, words + 1))
    cumulative: NDArray[np.float64] = shares / shares[-1]
    return cumulative
