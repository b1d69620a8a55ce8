"""Likely translations of each source word, from the co-occurrence of words in pairs of sentences.

The count of a word is the number of pairs that contain it at least once. The association of words s and t is Dice's
coefficient, 2 c(s, t) / (c(s) + c(t)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt.data.bitext import Bitext, Ids, ranges
from nmt.data.vocabulary import END

Numbers = NDArray[np.int64]


def likely_words(
    bitext: Bitext, source_words: int, target_words: int, each: int, pairs: int
) -> NDArray[np.int32]:
    """Return the `each` most associated target ids of each source id, best first, in the first `pairs` pairs.

    Of equal associations, the more frequent word comes first. The shape is (`source_words`, `each`); rows with fewer
    words are filled with the end symbol. The first pairs of a shuffled bitext are a sample of all pairs. The memory is
    45 bytes for each word of the pairs.
    """
    pairs = min(pairs, len(bitext))
    containing, first_pair = _distinct(_words_of(bitext, "source", pairs), source_words, by_word=True)
    inside, first_word = _distinct(_words_of(bitext, "target", pairs), pairs, by_word=False)
    frequencies = np.bincount(inside, minlength=target_words)
    likely = np.full((source_words, each), END, np.int32)
    for word in range(source_words):
        own = containing[first_pair[word] : first_pair[word + 1]]
        together = np.bincount(inside[ranges(first_word[own], first_word[own + 1])], minlength=target_words)
        seen = together.nonzero()[0]
        dice = 2 * together[seen] / (len(own) + frequencies[seen])
        best = seen[np.argsort(-dice, kind="stable")[:each]]
        likely[word, : len(best)] = best
    return likely


def _words_of(bitext: Bitext, side: str, pairs: int) -> tuple[Ids, Numbers]:
    """Return the ids of the first sentences of a side, and the number of the pair of each id."""
    ids, offsets = bitext.side(side)
    numbers = np.repeat(np.arange(pairs), np.diff(offsets[: pairs + 1]))
    return ids[: offsets[pairs]], numbers


def _distinct(words: tuple[Ids, Numbers], groups: int, by_word: bool) -> tuple[Numbers, Numbers]:
    """Return pairs grouped by words, or words grouped by pairs, without duplicates, and the groups' beginnings."""
    ids, numbers = words
    outer, inner = (ids.astype(np.int64), numbers) if by_word else (numbers, ids.astype(np.int64))
    base = int(inner.max(initial=0)) + 1
    outer, inner = np.divmod(np.unique(outer * base + inner), base)
    return inner, np.searchsorted(outer, np.arange(groups + 1))
