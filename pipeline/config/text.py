"""Settings of an experiment's text: cleaning, selection, vocabularies."""

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import Identifier, PositiveInt, Settings, TokenCount
from nmt.settings.text import MAX_VOCABULARY_SIZE

VocabularySize = Annotated[int, Field(ge=1, le=MAX_VOCABULARY_SIZE)]


class Cleaning(Settings):
    """Which pairs are removed before tokenization, besides those with an empty side."""

    max_words: TokenCount | None = None
    """Maximum words of a side. null: no limit."""
    max_ratio: Annotated[float, Field(gt=1, le=1e6)] | None = None
    """Maximum ratio of the longer side to the shorter one, in words. null: no limit."""


class Selection(Settings):
    """Selection by bilingual cross-entropy difference (Axelrod et al., 2011)."""

    enabled: bool
    """false: the whole text is used."""
    in_domain: list[Identifier]
    """In-domain text. The paper does not name it; Cho et al. (2014a) used these two."""
    order: Annotated[int, Field(ge=2, le=6)]
    """Order of the language models (words in the longest n-gram)."""
    lm_vocabulary: Literal["all", "in_domain"] = "all"
    """Words that the language models know. all: each model knows all words of its own text. in_domain: all four know
    only the words of the in-domain text, as in Moore and Lewis (2010), whom Axelrod et al. follow. The paper names no
    limit."""
    lm_vocabulary_min_count: PositiveInt = 2
    """For in_domain: minimum count of a word in the in-domain text. Moore and Lewis have 2, XenC has 1."""
    sample_pairs: PositiveInt | None = None
    """Pairs in the random sample for the out-of-domain models. null: as many as the in-domain text has."""
    target_words: PositiveInt
    """Budget of the selection: words (tokens) of the target language."""
    corpus_words: dict[Identifier, PositiveInt] = Field(default={})
    """Budgets of single corpora, for example {europarl-v7: 27450000}. {}: one threshold for all corpora, as in Axelrod
    et al."""
    discount_fallback: bool = False
    """Use fixed discounts if a text is too small to estimate them (lmplz). Only for tiny experiments."""


class VocabularySettings(Settings):
    """Settings of the vocabularies."""

    words: VocabularySize
    """Number of most frequent words in each language."""
    target_words: VocabularySize | None = None
    """Number of words for the target language, if it differs. null: the same number."""
    subwords: bool = False
    """Cut words into subword units (docs/own-text.md#subword-units), whose number is then `words`."""
    specials_included: bool
    """Whether [UNK] and the end symbol count among `words`, as they do in the authors' code."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of words of the source side and of the target side."""
        return self.words, self.target_words or self.words


SentenceLength = Literal["source", "reference", "both"]
"""The side whose words are the length of a sentence; both: source and reference each."""
