"""Splits lines that are too long for one search into pieces, and joins the translations of the pieces.

Time and memory of a search grow with the square of a line's length, and no model was trained on lines of a thousand
words.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]

_ENDS = (frozenset(".!?…"), frozenset(";:"), frozenset(","))
"""Tokens at which a line is cut, in order of preference."""


@dataclass(frozen=True)
class Found:
    """A translation of a line or of a piece of a line.

    words: its tokens, without the end symbol. log_probability: in nats, of all tokens and of the end symbol of each
    piece; `word_log_probabilities` has them one by one. finished: whether the search reached the end symbol. weights:
    attention of each piece, a row for each of its target words, a column for each of its source words (no end symbols),
    or None.
    """

    words: list[str]
    log_probability: float
    finished: bool
    word_log_probabilities: list[float] | None = None
    weights: list[Weights] | None = None

    def score(self, normalize: bool) -> float:
        """Return the score by which the search ranks a piece; see `beam_search.Hypothesis.score`."""
        length = len(self.words) + self.finished
        return self.log_probability / length if normalize else self.log_probability


def pieces(words: Sequence[str], limit: int) -> list[list[str]]:
    """Cut `words` into pieces of at most `limit`, after a full stop, else a comma, in the second half of a piece."""
    found: list[list[str]] = []
    rest = list(words)
    while len(rest) > limit:
        end = _end(rest[:limit])
        found.append(rest[:end])
        rest = rest[end:]
    return [*found, rest] if rest else found


def _end(words: Sequence[str]) -> int:
    half = len(words) // 2
    for marks in _ENDS:
        for end in range(len(words), half, -1):
            if words[end - 1] in marks:
                return end
    return len(words)


def together(parts: Sequence[Sequence[Found]], n_best: int, normalize: bool) -> list[Found]:
    """Return the `n_best` best translations of a line, given those of its pieces, each best first.

    A line is ranked by the sum of its pieces' scores. Each score is divided by the piece's own length if the search
    does so. Therefore the best line always consists of the best translation of every piece.
    """
    best = [(found.score(normalize), found) for found in parts[0]]
    for following in parts[1:]:
        pairs = (
            (score + right.score(normalize), left, right) for (score, left), right in product(best, following)
        )
        chosen = heapq.nlargest(n_best, pairs, key=itemgetter(0))
        best = [(score, _join(left, right)) for score, left, right in chosen]
    return [found for _, found in best]


def _join(left: Found, right: Found) -> Found:
    one_by_one, weights = left.word_log_probabilities, left.weights
    return Found(
        left.words + right.words,
        left.log_probability + right.log_probability,
        left.finished and right.finished,
        None if one_by_one is None else one_by_one + (right.word_log_probabilities or []),
        None if weights is None else weights + (right.weights or []),
    )
