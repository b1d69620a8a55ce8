"""Subword units: words cut by byte pair encoding (Sennrich et al., 2016, Algorithm 1).

A word starts as its characters, after a mark for its beginning. Then, repeatedly, the two neighbours whose union was
learned first are merged, as long as there is a union that is a piece. So the ordered list of pieces defines the
segmentation. A word with a character that is not a piece is not cut; it is the unknown word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

BEGINNING = "▁"
"""U+2581, which SentencePiece puts in front of a word's first piece."""
LONGEST = 200
"""Maximum number of characters in a word that is cut; time grows with its square."""
_REMEMBERED = 1 << 19


class Cutter:
    """Cuts words into pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        """Take `pieces` in learning order. Single characters are also pieces."""
        self._order = {piece: place for place, piece in enumerate(pieces)}
        self._cut = lru_cache(maxsize=_REMEMBERED)(self._cut_anew)

    def __call__(self, word: str) -> tuple[str, ...]:
        """Return the pieces of a word; none if it has a character that is not a piece, or too many characters."""
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
    """Join pieces into words. A word begins with a marked piece, or is one of `whole`, which are never joined."""
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
