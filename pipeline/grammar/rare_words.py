"""The demo's open lexicon: any number of regular, made-up word pairs, drawn with a Zipf law.

The tail of it is unknown to a vocabulary of limited size, as in real text.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import Generic, Literal, TypeVar

from pipeline.grammar.lexicon import Adjective, Kind, Name, Noun

Entry = TypeVar("Entry")
WordClass = Literal["person", "thing", "place", "name", "city", "adjective"]

# English and French endings of cognates, with the French gender; in French all plurals of nouns take -s.
NOUN_ENDINGS: dict[Kind, tuple[tuple[str, str, bool], ...]] = {
    "person": (("ist", "iste", False), ("ator", "ateur", False), ("ine", "ine", True)),
    "thing": (
        ("ism", "isme", False),
        ("ation", "ation", True),
        ("ument", "ument", False),
        ("ette", "ette", True),
    ),
    "place": (("ory", "oire", False), ("ery", "erie", True), ("arium", "arium", False)),
}
# English, then French: masculine, feminine, masculine plural, feminine plural.
ADJECTIVE_ENDINGS = (
    ("ic", "ique", "ique", "iques", "iques"),
    ("ous", "eux", "euse", "eux", "euses"),
    ("ive", "if", "ive", "ifs", "ives"),
    ("al", "al", "ale", "aux", "ales"),
)
NAME_ENDINGS = (("el", False), ("in", False), ("or", False), ("ia", True), ("ena", True))

# Which class the next word of the open lexicon belongs to, over and over.
CLASSES: tuple[WordClass, ...] = ("thing", "person", "name", "place", "thing", "adjective", "name", "city")

ONSETS = (*"bdfglmnprtv", "br", "dr", "fl", "gr", "pl", "tr")
VOWELS = "aeiou"
FIRST_VOWELS = "aeio"  # "u" would leave the choice of "a" or "an" to pronunciation
CODAS = "lmnrtv"


class Zipf(Generic[Entry]):
    """Entries by rank, drawn with probability proportional to 1 / rank ** exponent."""

    def __init__(self, entries: Sequence[Entry], exponent: float) -> None:
        self._entries = entries
        weights = (1 / rank**exponent for rank in range(1, len(entries) + 1))
        self._cumulative = list(itertools.accumulate(weights))

    def __len__(self) -> int:
        return len(self._entries)

    def draw(self, rng: random.Random) -> Entry:
        """Return one entry, at the cost of one random number and a binary search."""
        return self._entries[bisect(self._cumulative, rng.random() * self._cumulative[-1])]


class RareWords:
    """`size` made-up words in six classes, decided by the seed. A larger lexicon begins like a smaller."""

    def __init__(self, size: int, exponent: float, seed: int) -> None:
        rng = random.Random(f"lexicon {seed}")
        nouns: dict[Kind, list[Noun]] = {"person": [], "thing": [], "place": []}
        people: list[Name] = []
        cities: list[Name] = []
        adjectives: list[Adjective] = []
        stems = _stems(rng)
        for word_class, stem in zip(itertools.islice(itertools.cycle(CLASSES), size), stems, strict=False):
            if word_class == "adjective":
                adjectives.append(_adjective(stem, rng))
            elif word_class == "name":
                people.append(_name(stem, rng))
            elif word_class == "city":
                cities.append(_name(stem, rng))
            else:
                nouns[word_class].append(_noun(word_class, stem, rng))
        self.nouns = {kind: Zipf(entries, exponent) for kind, entries in nouns.items()}
        self.people = Zipf(people, exponent)
        self.cities = Zipf(cities, exponent)
        self.adjectives = Zipf(adjectives, exponent)


def _stems(rng: random.Random) -> Iterator[str]:
    """Yield pronounceable stems, none the beginning of another, so that words differ whatever their endings."""
    beginnings: set[str] = set()
    stems: set[str] = set()
    while True:
        stem = _stem(rng)
        parts = {stem[:end] for end in range(1, len(stem) + 1)}
        if stem in beginnings or stems & parts:
            continue
        beginnings |= parts
        stems.add(stem)
        yield stem


def _stem(rng: random.Random) -> str:
    first = rng.choice(FIRST_VOWELS) if rng.random() < 0.2 else rng.choice(ONSETS) + rng.choice(VOWELS)
    middle = (rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(2))
    return first + "".join(middle) + rng.choice(CODAS)


def _noun(kind: Kind, stem: str, rng: random.Random) -> Noun:
    ending, french_ending, feminine = rng.choice(NOUN_ENDINGS[kind])
    plural = ending[:-1] + "ies" if ending.endswith("y") else ending + "s"
    french = stem + french_ending
    return Noun((stem + ending, stem + plural), (french, french + "s"), feminine)


def _name(stem: str, rng: random.Random) -> Name:
    ending, feminine = rng.choice(NAME_ENDINGS)
    word = (stem + ending).capitalize()
    return Name(word, word, feminine)


def _adjective(stem: str, rng: random.Random) -> Adjective:
    english, *french = (stem + ending for ending in rng.choice(ADJECTIVE_ENDINGS))
    masculine, feminine, masculines, feminines = french
    return Adjective(english, ((masculine, feminine), (masculines, feminines)), masculine)
