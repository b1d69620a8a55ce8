"""Splits lines that are too long for one search into pieces, and joins the translations of the pieces.

Time and memory of a search grow with the square of a line's length, and no model was trained on lines of a thousand
words.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]

_ENDS = (frozenset(".!?…。！？؟۔।॥"), frozenset(";:；：؛"), frozenset(",，、،"))
"""Tokens at which a line is cut, in order of preference."""


@dataclass(frozen=True)
class Found:
    """A translation of a line or of a piece of a line.

    words: its tokens, without the end symbol. log_probability: in nats, of all tokens and of the end symbol of each
    piece; `word_log_probabilities` has them one by one. finished: whether the search reached the end symbol. score:
    the sum of the scores by which the search ranks each piece. weights: attention of each piece, a row for each of its
    target words, a column for each of its source words (no end symbols), or None.
    """

    words: list[str]
    log_probability: float
    finished: bool
    score: float
    word_log_probabilities: list[float] | None = None
    weights: list[Weights] | None = None


def pieces(words: Sequence[str], limit: int) -> list[list[str]]:
    """Cut `words` into pieces of at most `limit`, after punctuation in the second half of a piece if there is any."""
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


def together(parts: Sequence[Sequence[Found]], n_best: int) -> list[Found]:
    """Return the `n_best` best translations of a line, given those of its pieces, each best first.

    A line is ranked by the sum of its pieces' scores. Therefore the best line always consists of the best translation
    of every piece.
    """
    best = list(parts[0])
    for following in parts[1:]:
        chosen = heapq.nlargest(
            n_best, product(best, following), key=lambda pair: pair[0].score + pair[1].score
        )
        best = [_join(left, right) for left, right in chosen]
    return best


def _join(left: Found, right: Found) -> Found:
    one_by_one, weights = left.word_log_probabilities, left.weights
    return Found(
        left.words + right.words,
        left.log_probability + right.log_probability,
        left.finished and right.finished,
        left.score + right.score,
        None if one_by_one is None else one_by_one + (right.word_log_probabilities or []),
        None if weights is None else weights + (right.weights or []),
    )
