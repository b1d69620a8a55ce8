"""The demo's open lexicon: any number of regular, made-up word pairs, whose frequencies follow Zipf's law.

The rarest of them are unknown to a vocabulary of limited size, as in real text.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.grammar.lexicon import (
    Adjective,
    Name,
    Noun,
    NounKind,
    WordClass,
    make_adjective,
    make_name,
    make_noun,
    split_rows,
)

NOUN_ENDINGS: dict[NounKind, list[list[str]]] = {
    "person": split_rows("""
ist ists iste istes m
ator ators ateur ateurs m
ine ines ine ines f
"""),
    "thing": split_rows("""
ism isms isme ismes m
ation ations ation ations f
ument uments ument uments m
ette ettes ette ettes f
"""),
    "place": split_rows("""
ory ories oire oires m
ery eries erie eries f
arium ariums arium ariums m
"""),
}
"""Endings of cognates: English and French, each in the singular and plural, and the gender of the French noun."""
ADJECTIVE_ENDINGS = split_rows("""
ic ique ique iques iques
ous eux euse eux euses
ive if ive ifs ives
al al ale aux ales
""")
"""English, then French: masculine, feminine, masculine plural, feminine plural."""
NAME_ENDINGS = split_rows("""
el m
in m
or m
ia f
ena f
""")
"""The ending in both languages, and the gender of the name."""

WORD_CLASSES: tuple[WordClass, ...] = (
    "thing", "person", "name", "place", "thing", "adjective", "name", "city",
)  # fmt: skip
"""The class of each word of the open lexicon; after the last one they begin again."""

ONSETS = (*"bdfglmnprtv", "br", "dr", "fl", "gr", "pl", "tr")
VOWELS = "aeiou"
INITIAL_VOWELS = "aeio"  # with "u", the choice of "a" or "an" would depend on the pronunciation
CODAS = "lmnrtv"


class ZipfSampler:
    """Words in the order of their frequency: a word's probability is proportional to 1 / rank ** exponent."""

    def __init__(self, words: Sequence[Any], exponent: float) -> None:
        self.words = words
        weights = (1 / rank**exponent for rank in range(1, len(words) + 1))
        self._cumulative_weights = list(itertools.accumulate(weights))

    def sample_word(self, rng: random.Random) -> Any:
        """Return one word, at the cost of one random number and a binary search."""
        return rng.choices(self.words, cum_weights=self._cumulative_weights)[0]


RareWords = dict[WordClass, ZipfSampler]


def make_rare_words(size: int, exponent: float, seed: int) -> RareWords:
    """Return `size` made-up words by class. The seed decides them; a larger lexicon has all words of a smaller one."""
    rng = random.Random(f"lexicon {seed}")
    words: dict[WordClass, list[Any]] = {word_class: [] for word_class in WORD_CLASSES}

    # `size` classes, each with the next of an endless number of stems
    word_classes = itertools.islice(itertools.cycle(WORD_CLASSES), size)
    for word_class, stem in zip(word_classes, _generate_stems(rng), strict=False):
        words[word_class].append(_make_word(word_class, stem, rng))
    return {word_class: ZipfSampler(words[word_class], exponent) for word_class in words}


def _generate_stems(rng: random.Random) -> Iterator[str]:
    """Yield pronounceable stems. No stem is the beginning of another, so that words differ whatever their endings."""
    earlier_stems: set[str] = set()
    prefixes_of_stems: set[str] = set()
    while True:
        stem = _make_stem(rng)
        prefixes = {stem[:end] for end in range(1, len(stem) + 1)}
        if stem in prefixes_of_stems or earlier_stems & prefixes:
            continue
        earlier_stems.add(stem)
        prefixes_of_stems |= prefixes
        yield stem


def _make_stem(rng: random.Random) -> str:
    """Return random syllables: "bralitov", or "alitov" if the first syllable has no onset."""
    has_onset = rng.random() >= 0.2
    stem = rng.choice(ONSETS) + rng.choice(VOWELS) if has_onset else rng.choice(INITIAL_VOWELS)
    for _ in range(2):
        stem += rng.choice(ONSETS) + rng.choice(VOWELS)
    return stem + rng.choice(CODAS)


def _make_word(word_class: WordClass, stem: str, rng: random.Random) -> Noun | Name | Adjective:
    """Return a word with random endings of its class. A name is the same in both languages."""
    if word_class == "adjective":
        return make_adjective(*(stem + ending for ending in rng.choice(ADJECTIVE_ENDINGS)))
    if word_class == "name" or word_class == "city":
        ending, gender = rng.choice(NAME_ENDINGS)
        name = (stem + ending).capitalize()
        return make_name(name, name, gender)
    *endings, gender = rng.choice(NOUN_ENDINGS[word_class])
    cells = [stem + ending for ending in endings] + [gender]
    return make_noun(*cells)
