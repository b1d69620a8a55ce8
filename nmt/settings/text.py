"""Settings of the text: languages, cleaning, tokenization, selection, vocabularies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nmt.settings.base import Identifier, PositiveInt, Settings, TrainedWith, Words

LARGEST_VOCABULARY = 2**31 - 3
"""Maximum number of words: ids have at most 32 bits, and two ids are the end symbol and UNK."""


LANGUAGES = (
    "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn", "lt",
    "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te", "yue", "zh",
)  # fmt: skip
"""Languages whose abbreviations Moses' tokenizer knows. It tokenizes other languages as English."""


class Languages(Settings):
    """Codes of both languages, as in Moses' tokenizer."""

    source: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    target: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]

    @model_validator(mode="after")
    def _two(self) -> Languages:
        if self.source == self.target:
            raise ValueError("expected two languages")
        return self


class Cleaning(Settings):
    """Which pairs are removed before tokenization, besides those with an empty side."""

    max_words: Words | None = None
    max_ratio: Annotated[float, Field(gt=1, le=1e6)] | None = None


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


SentenceLength = Literal["source", "reference", "both"]
"""The side whose words are the length of a sentence; both: source and reference each."""
