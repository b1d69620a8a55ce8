"""French elision (l'homme), contraction (du, aux), and forms before a vowel (cet)."""

from collections.abc import Sequence

Links = tuple[int, ...]
"""Positions of the English words that a French word translates."""
AlignedWord = tuple[str, Links]
"""A French word with its links."""

VOWELS = frozenset("aeiouhâàéèêîôû")  # with the h, which is mute in most words
WORDS_WITH_ASPIRATED_H = ("héros",)  # before them nothing is elided: le héros

FORMS_BEFORE_VOWEL = {
    "le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'",
    "ce": "cet", "sa": "son", "si": "s'",
}  # fmt: skip
CONTRACTIONS = {
    ("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux",
    ("de", "des"): "de", ("de", "de"): "de",
}  # fmt: skip


def begins_with_vowel(word: str) -> bool:
    """Return whether a word begins with a vowel or a mute h."""
    return word[0].lower() in VOWELS and word not in WORDS_WITH_ASPIRATED_H


def contract_words(words: Sequence[AlignedWord]) -> list[AlignedWord]:
    """Return French words after contraction and elision: "de le roi" becomes "du roi".

    The loop begins with the last word, because whether "de" contracts with "le" depends on the word behind "le":
    de l'homme, but du roi.
    """
    reversed_words: list[AlignedWord] = []  # the last word of the sentence first
    for word, links in reversed(words):
        # 1. a contraction takes the place of two words, and has the links of both
        if reversed_words and (word, reversed_words[-1][0]) in CONTRACTIONS:
            next_word, next_links = reversed_words.pop()
            word = CONTRACTIONS[word, next_word]
            links += next_links

        # 2. some words have a different form before a vowel; "si" changes only before "il" and "ils"
        if reversed_words:
            next_word, _ = reversed_words[-1]
            changes_form = begins_with_vowel(next_word)
            if word == "si":
                changes_form = next_word in ("il", "ils")
            if changes_form:
                word = FORMS_BEFORE_VOWEL.get(word, word)
        reversed_words.append((word, links))
    return reversed_words[::-1]
