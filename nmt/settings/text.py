"""Settings of the text: languages, cleaning, tokenization, overlap, selection, vocabularies; the generated text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import Identifier, PositiveInt, Settings, TrainedWith, Words

LARGEST_VOCABULARY = 2**31 - 3
"""Ids are stored in 16 bits, or in 32 where they don't fit; two of them are the end symbol and UNK."""


Remedy = Literal["repair", "keep", "drop", "stop"]
"""What becomes of a line with malformed characters: repaired, kept, dropped with its pair, or the run stops."""


LANGUAGES = (
    "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn", "lt",
    "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te", "yue", "zh",
)  # fmt: skip
"""Languages whose abbreviations Moses' tokenizer has; it would cut others as English."""


class Languages(Settings):
    """Codes of both languages, as Moses' tokenizer knows them."""

    source: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    target: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]


_LIMITS = {"min_words", "max_words", "max_ratio", "max_characters", "max_word_characters"}


class Cleaning(Settings):
    """Which pairs are blanked before tokenisation, and what becomes of malformed characters; empty sides always go."""

    min_words: Words = 1
    max_words: Words | None = None
    max_ratio: Annotated[float, Field(gt=1, le=1e6)] | None = None
    max_characters: PositiveInt | None = None
    max_word_characters: PositiveInt | None = None
    invalid_utf8: Literal["repair", "drop", "stop"] = "repair"
    byte_order_mark: Remedy = "repair"
    carriage_return: Remedy = "repair"
    line_separators: Remedy = "repair"
    control_characters: Remedy = "repair"

    def keeping_all(self) -> Cleaning:
        """The same without limits, and with repairs where pairs would go: for text that is scored whole."""
        remedies = {name: "repair" for name, remedy in self if remedy == "drop"}
        return Cleaning.model_validate(self.model_dump(include={*Cleaning.model_fields} - _LIMITS) | remedies)

    @property
    def limits(self) -> tuple[str, ...]:
        """What a pair may exceed, in the order in which it is looked for; an empty side always goes."""
        limits = {
            "too_short": self.min_words > 1 or None,
            "too_long": self.max_words,
            "ratio": self.max_ratio,
            "too_many_characters": self.max_characters,
            "long_word": self.max_word_characters,
        }
        return ("empty", *(name for name, limit in limits.items() if limit is not None))


class Tokenization(Settings):
    """Moses' tokenizer and its switches, by default as Moses has them."""

    tokenizer: Literal["moses"] = "moses"
    escape: bool = True
    split_hyphens: bool = False


class Selection(Settings):
    """Axelrod et al. (2011): bilingual cross-entropy difference."""

    enabled: bool
    in_domain: list[Identifier]
    order: Annotated[int, Field(ge=2, le=6)]
    lm_vocabulary: Literal["all", "in_domain"] = "all"
    """Words that the language models know: each those of its own text, or all of them those of the in-domain text."""
    lm_vocabulary_least: PositiveInt = 2
    """So often must a word occur in the in-domain text; decides nothing where they know all words."""
    sample_pairs: PositiveInt | None = None
    """Size of the out-of-domain sample; None takes as many pairs as the in-domain text has."""
    target_words: PositiveInt
    corpus_words: dict[Identifier, PositiveInt] = Field(default={})
    """Corpora with a budget of their own; all others share `target_words`."""
    discount_fallback: bool = False


class VocabularySettings(TrainedWith):
    """The words that keep their own id."""

    words: Annotated[int, Field(ge=1, le=LARGEST_VOCABULARY)]
    target_words: Annotated[int, Field(ge=1, le=LARGEST_VOCABULARY)] | None = None
    """Words of the target side where it has another number; None: `words`."""
    subwords: bool = False
    """Whether these are units that words are cut into."""
    specials_count: bool
    """Whether UNK and the end symbol count among the words."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Words of the source and of the target side."""
        return self.words, self.target_words or self.words


class Overlap(Settings):
    """What becomes of training pairs with a sentence of the development or test set."""

    drop: Literal["none", "source", "target", "either", "both"]
    """Which side must stand in a held-out set for a pair to go."""
    alike: bool
    """Compare letters and digits alone, whatever their case, instead of tokens."""


SentenceLength = Literal["source", "reference", "both"]
"""Whose words are counted when sentences are sorted by length; both: source and reference each."""
