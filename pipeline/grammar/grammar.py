"""A small synchronous English-French grammar: random sentence pairs with word alignments.

It has difficulties of real translation: agreement at a distance, adjectives that change sides, clitics, negation around
the verb, phrases that translate as a whole, a tail of rare words. One English sentence has one French translation.
"""

import random
from dataclasses import dataclass

from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar.derivation import Derivation
from pipeline.grammar.elision import AlignedWord, contract_words
from pipeline.grammar.rare_words import make_rare_words

MIN_TARGET_LENGTH = 4  # in tokens
LENGTH_SKEW = 1.5  # above 1: more short sentences than long ones


@dataclass(frozen=True)
class SentencePair:
    """Tokens of both sides, unescaped, and the links (English position, French position), sorted."""

    english: list[str]
    french: list[str]
    links: list[tuple[int, int]]

    def english_text(self) -> str:
        """Return English as it is written, without spaces before punctuation and 's."""
        return _detokenize(self.english)

    def french_text(self) -> str:
        """Return French as it is written, without spaces before punctuation and after an apostrophe."""
        return _detokenize(self.french)

    def format_pharaoh(self) -> str:
        """Return the links as `i-j i-j`, English first, from 0."""
        return " ".join(f"{i}-{j}" for i, j in self.links)


class Grammar:
    """The language that the settings describe."""

    def __init__(self, settings: GrammarSettings) -> None:
        self.max_words = settings.max_words
        self.rare_words = make_rare_words(settings.lexicon, settings.zipf_exponent, settings.seed)

    def generate_pair(self, rng: random.Random) -> SentencePair:
        """Return one random pair whose English has at most `max_words` tokens; the French may have a few more."""
        length_range = self.max_words - MIN_TARGET_LENGTH
        target_length = MIN_TARGET_LENGTH + round(length_range * rng.random() ** LENGTH_SKEW)
        while True:
            derivation = Derivation(rng, self.rare_words)
            # each sentence ends with a full stop, which the derivation does not count
            french = derivation.generate_sentence(target_length - 1, self.max_words - 1)
            if french:  # otherwise no clause was short enough, and the next attempt is another sentence
                return _finish_pair(derivation.english, french)


def _finish_pair(english: list[str], french: list[AlignedWord]) -> SentencePair:
    """Return the pair of derived words, with full stops, capitals, "an", and French contractions and elisions."""
    # 1. English
    english_tokens = [*english, "."]
    for position, word in enumerate(english):
        if word == "a" and english_tokens[position + 1][0] in "aeiou":
            english_tokens[position] = "an"

    # 2. French, whose full stop is linked to the English one, the last token
    full_stop = (".", (len(english),))
    french_tokens = []
    links: set[tuple[int, int]] = set()
    for french_position, (word, english_positions) in enumerate(contract_words([*french, full_stop])):
        french_tokens.append(word)
        links.update((position, french_position) for position in english_positions)

    # 3. both begin with a capital letter
    for tokens in (english_tokens, french_tokens):
        tokens[0] = tokens[0][0].upper() + tokens[0][1:]
    return SentencePair(english_tokens, french_tokens, sorted(links))


def _detokenize(tokens: list[str]) -> str:
    """Return tokens as a line of text."""
    text = " ".join(tokens)
    return text.replace(" 's", "'s").replace("' ", "'").replace(" ,", ",").replace(" .", ".")
