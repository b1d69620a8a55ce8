"""Likely target words of each source word, against counts by plain loops."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.data.co_occurrence import likely_words
from nmt.data.vocabulary import END
from tests.bitexts import Pair, write_bitext

SIZE = 6
WORDS = st.lists(st.integers(1, SIZE + 1), min_size=1, max_size=5)


def by_loops(pairs: list[Pair], word: int, each: int) -> list[int]:
    """The same by the definition."""
    own = [set(target) for source, target in pairs if word in source]
    scores = dict[int, float]()
    for other in range(SIZE + 2):
        together = sum(other in target for target in own)
        if together:
            holding = sum(other in target for _, target in pairs)
            scores[other] = 2 * together / (len(own) + holding)
    ranked = sorted(scores, key=lambda other: (-scores[other], other))[:each]
    return ranked + [END] * (each - len(ranked))


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12),
    each=st.integers(1, 5),
    counted=st.integers(1, 15),
)
def test_words_are_those_with_the_largest_dice_coefficients(
    pairs: list[Pair], each: int, counted: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bitext = write_bitext(Path(folder), pairs, SIZE)
        found = likely_words(bitext, SIZE + 2, SIZE + 2, each, counted)
    assert found.tolist() == [by_loops(pairs[:counted], word, each) for word in range(SIZE + 2)]
