"""A small synchronous English-French grammar: random sentence pairs with word alignments.

It has difficulties of real translation: agreement at a distance, adjectives that change sides, clitics, negation around
the verb, phrases that translate as a block, a tail of rare words. One English sentence has one French translation.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.derivation import Derivation
from pipeline.grammar.elision import Piece, join_words
from pipeline.grammar.rare_words import RareWords

SHORTEST = 4  # tokens that a sentence aims at, at least
LENGTH_SKEW = 1.5  # above 1: more short sentences than long ones


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Tokens of both sides, unescaped, and the links (English position, French position), sorted."""

    english: list[str]
    french: list[str]
    links: list[tuple[int, int]]

    def english_text(self) -> str:
        """Return English as it is written: capital, no space before punctuation and 's."""
        return _written(self.english)

    def french_text(self) -> str:
        """Return French as it is written: capital, no space before punctuation and after an apostrophe."""
        return _written(self.french)

    def pharaoh(self) -> str:
        """Return the links as `i-j i-j`, English first, from 0."""
        return " ".join(f"{i}-{j}" for i, j in self.links)


class Grammar:
    """The language that the settings describe."""

    def __init__(self, settings: GrammarSettings) -> None:
        self.max_words = settings.max_words
        self.rare = RareWords(settings.lexicon, settings.zipf_exponent, settings.seed)

    def sentence(self, rng: random.Random) -> SentencePair:
        """Return one random pair whose English has at most `max_words` tokens; the French may have a few more."""
        target = SHORTEST + round((self.max_words - SHORTEST) * rng.random() ** LENGTH_SKEW)
        while True:
            english, pieces = Derivation(rng, self.rare).sentence(target, self.max_words)
            if pieces:
                return _finished(english, pieces)


def _finished(english: list[str], pieces: list[Piece]) -> SentencePair:
    stop = (".", (len(english),))
    joined = join_words([*pieces, stop])
    words = [*_with_an(english), "."]
    french = [word for word, _ in joined]
    links = sorted({(i, j) for j, (_, positions) in enumerate(joined) for i in positions})
    words[0], french[0] = _capital(words[0]), _capital(french[0])
    return SentencePair(words, french, links)


def _with_an(words: list[str]) -> list[str]:
    followed = zip(words, [*words[1:], "."], strict=True)
    return ["an" if word == "a" and following[0] in "aeiou" else word for word, following in followed]


def _capital(word: str) -> str:
    return word[0].upper() + word[1:]


def _written(tokens: list[str]) -> str:
    text = " ".join(tokens)
    return text.replace(" 's", "'s").replace("' ", "'").replace(" ,", ",").replace(" .", ".")
