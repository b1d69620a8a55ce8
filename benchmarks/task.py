"""What every contender is given: sizes, and random word ids, the same for all.

Ids follow Zipf's law by rank, as in a vocabulary sorted by frequency. So a batch needs about as many rows of the
embeddings as in real text. Every update gets another batch, because in training its rows also change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

SPECIAL_COUNT = 4
"""The number of ids that are no words in any contender. JoeyNMT has the most: unk, pad, bos, eos."""

WordIds = NDArray[np.int64]


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


def sample_pairs(sizes: Sizes, update: int) -> tuple[WordIds, WordIds]:
    """Return source and target words of an update, by its number: (batch, length - 1) each, without end symbols."""
    generator = np.random.default_rng((1, sizes.length, update))
    uniform_numbers = generator.random((2, sizes.batch, sizes.length - 1))
    source, target = _choose_ids(uniform_numbers, sizes.vocabulary)
    return source, target


def sample_sentences(lengths: Sequence[int], vocabulary: int, batch: int) -> list[list[int]]:
    """Return sentences of these lengths for a batch of a search, by its number, without end symbols."""
    generator = np.random.default_rng((2, batch))
    return [_choose_ids(generator.random(length), vocabulary).tolist() for length in lengths]


def _choose_ids(uniform_numbers: NDArray[np.float64], vocabulary: int) -> WordIds:
    """Return a word id for each number between 0 and 1, so that ids follow Zipf's law."""
    cumulative_probabilities = compute_zipf_distribution(vocabulary - SPECIAL_COUNT)
    return SPECIAL_COUNT + np.searchsorted(cumulative_probabilities, uniform_numbers, side="right")


@cache
def compute_zipf_distribution(words: int) -> NDArray[np.float64]:
    """Return cumulative probabilities of ranks 1..words, each in proportion to 1 / rank."""
    cumulative_weights = np.cumsum(1 / np.arange(1, words + 1))
    cumulative_probabilities: NDArray[np.float64] = cumulative_weights / cumulative_weights[-1]
    return cumulative_probabilities
