"""The demo's open lexicon: any number of regular, made-up word pairs, whose frequencies follow Zipf's law.

The rarest of them are unknown to a vocabulary of limited size, as in real text.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Generic, Literal, TypeVar

from pipeline.grammar.lexicon import Adjective, Name, Noun, NounKind, split_rows

Entry = TypeVar("Entry")
WordClass = Literal["person", "thing", "place", "name", "city", "adjective"]

NOUN_ENDINGS: dict[NounKind, list[list[str]]] = {
    "person": split_rows("""
ist iste m
ator ateur m
ine ine f
"""),
    "thing": split_rows("""
ism isme m
ation ation f
ument ument m
ette ette f
"""),
    "place": split_rows("""
ory oire m
ery erie f
arium arium m
"""),
}
"""English and French endings of cognates, and the gender of the French noun. All French plurals take -s."""
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


class ZipfSampler(Generic[Entry]):
    """Entries in the order of their frequency: an entry's probability is proportional to 1 / rank ** exponent."""

    def __init__(self, entries: Sequence[Entry], exponent: float) -> None:
        self.entries = entries
        weights = (1 / rank**exponent for rank in range(1, len(entries) + 1))
        self._cumulative_weights = list(itertools.accumulate(weights))

    def sample_entry(self, rng: random.Random) -> Entry:
        """Return one entry, at the cost of one random number and a binary search."""
        return rng.choices(self.entries, cum_weights=self._cumulative_weights)[0]


class RareWords:
    """`size` made-up words in six classes. The seed decides them; a larger lexicon has all words of a smaller one."""

    def __init__(self, size: int, exponent: float, seed: int) -> None:
        rng = random.Random(f"lexicon {seed}")
        nouns: dict[NounKind, list[Noun]] = {"person": [], "thing": [], "place": []}
        people: list[Name] = []
        cities: list[Name] = []
        adjectives: list[Adjective] = []

        # `size` classes, each with the next of an endless number of stems
        word_classes = itertools.islice(itertools.cycle(WORD_CLASSES), size)
        for word_class, stem in zip(word_classes, _generate_stems(rng), strict=False):
            if word_class == "adjective":
                adjectives.append(_make_adjective(stem, rng))
            elif word_class == "name":
                people.append(_make_name(stem, rng))
            elif word_class == "city":
                cities.append(_make_name(stem, rng))
            else:
                nouns[word_class].append(_make_noun(word_class, stem, rng))

        self.nouns = {kind: ZipfSampler(entries, exponent) for kind, entries in nouns.items()}
        self.people = ZipfSampler(people, exponent)
        self.cities = ZipfSampler(cities, exponent)
        self.adjectives = ZipfSampler(adjectives, exponent)


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


def _make_noun(kind: NounKind, stem: str, rng: random.Random) -> Noun:
    """Return a noun with random endings of its kind."""
    english_ending, french_ending, gender = rng.choice(NOUN_ENDINGS[kind])
    english, french = stem + english_ending, stem + french_ending
    english_plural = f"{english[:-1]}ies" if english.endswith("y") else f"{english}s"
    return Noun((english, english_plural), (french, f"{french}s"), feminine=gender == "f")


def _make_name(stem: str, rng: random.Random) -> Name:
    """Return a name that is the same in both languages."""
    ending, gender = rng.choice(NAME_ENDINGS)
    name = (stem + ending).capitalize()
    return Name(name, name, feminine=gender == "f")


def _make_adjective(stem: str, rng: random.Random) -> Adjective:
    """Return an adjective with random endings."""
    endings = rng.choice(ADJECTIVE_ENDINGS)
    english, masculine, feminine, masculine_plural, feminine_plural = (stem + ending for ending in endings)
    return Adjective(
        english,
        french=((masculine, feminine), (masculine_plural, feminine_plural)),
        before_vowel=masculine,
    )
