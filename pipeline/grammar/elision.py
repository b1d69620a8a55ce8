"""French elision (l'homme), contraction (du, aux), and forms before a vowel (cet).

Words have the positions of the English words that they translate. A contracted word has those of both its parts.
"""

from __future__ import annotations

from collections.abc import Sequence

Piece = tuple[str, tuple[int, ...]]
"""A French word and the English positions it is linked to."""

VOWELS = frozenset("aeiouhâàéèêîôû")
ASPIRATED = frozenset({"héros"})  # an h that lets no elision pass

BEFORE_VOWEL = {
    "le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'",
    "ce": "cet", "sa": "son", "si": "s'",
}  # fmt: skip
CONTRACTED = {
    ("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux",
    ("de", "des"): "de", ("de", "de"): "de",
}  # fmt: skip


def opens_with_vowel(word: str) -> bool:
    """Return whether a word begins with a vowel or a mute h."""
    return word[0].lower() in VOWELS and word not in ASPIRATED


def join_words(pieces: Sequence[Piece]) -> list[Piece]:
    """Elide and contract, from the end on: whether "de" meets "le" depends on what "le" meets."""
    joined: list[Piece] = []  # reversed
    for word, links in reversed(pieces):
        following = joined[-1] if joined else None
        if following and (word, following[0]) in CONTRACTED:
            joined.pop()
            links = (*links, *following[1])
            word = CONTRACTED[word, following[0]]
            following = joined[-1] if joined else None
        joined.append((_before(word, following[0]) if following else word, links))
    joined.reverse()
    return joined


def _before(word: str, following: str) -> str:
    if word not in BEFORE_VOWEL or not opens_with_vowel(following):
        return word
    if word == "si" and following not in ("il", "ils"):
        return word
    return BEFORE_VOWEL[word]
