"""Subword units: words cut by byte pair encoding (Sennrich et al., 2016, Algorithm 1).

A word begins as its characters behind the mark of its beginning; again and again, of all neighbours whose union is a
piece, those whose union was learned first become one. So the pieces in their order are all that cutting needs. A word
with a character that is no piece is not cut: it is the unknown word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

BEGINNING = "▁"
"""U+2581, which SentencePiece puts in front of a word's first piece."""
LONGEST = 200
"""Characters of a word that is cut: time grows with their square."""
_REMEMBERED = 1 << 19


class Cutter:
    """Cuts words into pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        """`pieces` in the order in which they were learned; single characters are pieces, too."""
        self._order = {piece: place for place, piece in enumerate(pieces)}
        self._cut = lru_cache(maxsize=_REMEMBERED)(self._cut_anew)

    def __call__(self, word: str) -> tuple[str, ...]:
        """The pieces of a word; none if it has a character that is no piece, or too many."""
        return self._cut(word)

    def _cut_anew(self, word: str) -> tuple[str, ...]:
        characters = {BEGINNING, *word}
        if BEGINNING in word or len(word) > LONGEST or not characters <= self._order.keys():
            return ()
        parts = [BEGINNING, *word]
        while len(parts) > 1:
            orders = [self._order.get(left + right, math.inf) for left, right in pairwise(parts)]
            first = min(orders)
            if first == math.inf:
                break
            place = orders.index(first)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return tuple(parts)


def joined(pieces: Iterable[str], whole: Iterable[str]) -> list[str]:
    """Words of pieces: each begins with a piece that has the mark, or is one of `whole`, which nothing joins."""
    words: list[str] = []
    apart = True
    whole = frozenset(whole)
    for piece in pieces:
        if piece in whole:
            words.append(piece)
            apart = True
        elif apart or piece.startswith(BEGINNING):
            words.append(piece.removeprefix(BEGINNING))
            apart = False
        else:
            words[-1] += piece
    return [word for word in words if word]
