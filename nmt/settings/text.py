"""Settings of the text: languages, cleaning, tokenization, overlap, selection, vocabularies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import Identifier, PositiveInt, Settings, TrainedWith, Words

LARGEST_VOCABULARY = 2**31 - 3
"""Maximum number of words: ids have at most 32 bits, and two ids are the end symbol and UNK."""


Remedy = Literal["repair", "keep", "drop", "stop"]
"""What is done about a line with malformed characters: repair it, keep it, drop its pair, or stop the run."""


LANGUAGES = (
    "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn", "lt",
    "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te", "yue", "zh",
)  # fmt: skip
"""Languages whose abbreviations Moses' tokenizer knows. It tokenizes other languages as English."""


class Languages(Settings):
    """Codes of both languages, as in Moses' tokenizer."""

    source: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    target: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]


_LIMITS = {"min_words", "max_words", "max_ratio", "max_characters", "max_word_characters"}


class Cleaning(Settings):
    """Which pairs are removed before tokenization besides those with an empty side, and how characters are repaired."""

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
        """Return settings that remove no pair, for test sets: no limits, and repairs instead of removals."""
        remedies = {name: "repair" for name, remedy in self if remedy == "drop"}
        return Cleaning.model_validate(self.model_dump(include={*Cleaning.model_fields} - _LIMITS) | remedies)

    @property
    def limits(self) -> tuple[str, ...]:
        """The names of the limits, in the order of the checks."""
        limits = {
            "too_short": self.min_words > 1 or None,
            "too_long": self.max_words,
            "ratio": self.max_ratio,
            "too_many_characters": self.max_characters,
            "long_word": self.max_word_characters,
        }
        return ("empty", *(name for name, limit in limits.items() if limit is not None))


class Tokenization(Settings):
    """Moses' tokenizer and its options, with Moses' defaults."""

    tokenizer: Literal["moses"] = "moses"
    escape: bool = True
    split_hyphens: bool = False


class Selection(Settings):
    """Selection by bilingual cross-entropy difference (Axelrod et al., 2011)."""

    enabled: bool
    in_domain: list[Identifier]
    order: Annotated[int, Field(ge=2, le=6)]
    lm_vocabulary: Literal["all", "in_domain"] = "all"
    """Words of the language models: `all` words of their own text, or for each model those of the in-domain text."""
    lm_vocabulary_least: PositiveInt = 2
    """Minimum count of a word in the in-domain text, for `lm_vocabulary: in_domain`."""
    sample_pairs: PositiveInt | None = None
    """Size of the out-of-domain sample. None: as many pairs as the in-domain text has."""
    target_words: PositiveInt
    corpus_words: dict[Identifier, PositiveInt] = Field(default={})
    """Budgets of single corpora. All other corpora share `target_words`."""
    discount_fallback: bool = False


class VocabularySettings(TrainedWith):
    """Settings of the vocabularies."""

    words: Annotated[int, Field(ge=1, le=LARGEST_VOCABULARY)]
    target_words: Annotated[int, Field(ge=1, le=LARGEST_VOCABULARY)] | None = None
    """Number of words of the target side. None: `words`."""
    subwords: bool = False
    """Whether the vocabularies consist of subword units."""
    specials_count: bool
    """Whether UNK and the end symbol count among the words."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of words of the source side and of the target side."""
        return self.words, self.target_words or self.words


class Overlap(Settings):
    """Which training pairs with a sentence of the development or test set are dropped."""

    drop: Literal["none", "source", "target", "either", "both"]
    """Which sides of a pair must be in a held-out set."""
    alike: bool
    """Whether sentences are compared by letters and digits alone, without case, instead of token by token."""


SentenceLength = Literal["source", "reference", "both"]
"""The side whose words are the length of a sentence; both: source and reference each."""
