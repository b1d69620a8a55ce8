"""Moses' rules in their port sacremoses, with a faster tokenizer."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from nmt.data.characters import DIGIT, LETTER, format_ranges, list_characters
from nmt.settings.text import Normalization

# joblib, which sacremoses imports for an option that is not used here, warns where /dev/shm is not writable
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=r".*joblib will operate in serial mode")
    import sacremoses as sacremoses

PLACEHOLDERS = "".join(map(chr, range(0x10_0000, 0x10_0100)))
"""Private characters that stand for parts of words which Moses would cut (`nmt.data.parts_of_words`)."""

_Rule = tuple[re.Pattern[str], str]
"""A pattern and its replacement."""


class _MosesTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
    """A faster sacremoses with equal tokens. sacremoses itself builds sets of 100,000 characters at every full stop."""

    IsAlpha: str
    IsAlnum: str
    PAD_NOT_ISALNUM: _Rule
    AGGRESSIVE_HYPHEN_SPLIT: _Rule
    ENGLISH_SPECIFIC_APOSTROPHE: list[_Rule]
    FR_IT_SPECIFIC_APOSTROPHE: list[_Rule]

    def __init__(self, language: str, normalization: Normalization) -> None:
        super().__init__(lang=language)
        # Text that is not normalized, as that of the papers, is tokenized by Moses' rules alone.
        if normalization != "none":
            self._add_letters()
        self._lower = frozenset(self.IsLower)
        self._alpha = frozenset(self.IsAlpha)
        self._alnum = frozenset(self.IsAlnum)

    def _add_letters(self) -> None:
        """Add all letters and digits of Unicode to Moses' lists, and to the patterns that contain these lists.

        Moses takes letters outside of its lists for punctuation: joiners, vowel signs, and scripts that are newer than
        the lists. For Chinese and Japanese, sacremoses takes punctuation for letters, so its lists of these languages
        are not used.
        """
        moses = sacremoses.MosesTokenizer
        self.IsAlpha = moses.IsAlpha + list_characters(LETTER) + PLACEHOLDERS
        self.IsAlnum = moses.IsAlnum + list_characters(LETTER + DIGIT) + PLACEHOLDERS
        alpha_ranges = format_ranges(self.IsAlpha, "\\U{:08x}")
        alnum_ranges = format_ranges(self.IsAlnum, "\\U{:08x}")

        def extend_rule(rule: _Rule) -> _Rule:
            pattern, replacement = rule
            extended = pattern.pattern.replace(moses.IsAlnum, alnum_ranges)
            extended = extended.replace(moses.IsAlpha, alpha_ranges)
            return re.compile(extended), replacement

        self.PAD_NOT_ISALNUM = extend_rule(moses.PAD_NOT_ISALNUM)
        self.AGGRESSIVE_HYPHEN_SPLIT = extend_rule(moses.AGGRESSIVE_HYPHEN_SPLIT)
        self.ENGLISH_SPECIFIC_APOSTROPHE = [extend_rule(rule) for rule in moses.ENGLISH_SPECIFIC_APOSTROPHE]
        self.FR_IT_SPECIFIC_APOSTROPHE = [extend_rule(rule) for rule in moses.FR_IT_SPECIFIC_APOSTROPHE]

    def is_one_token(self, word: str) -> bool:
        """Return whether no rule can apply: only letters and digits, and no placeholder for several full stops."""
        return self._alnum.issuperset(word) and "DOTMULTI" not in word

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)


@lru_cache
def load_moses_rules(language: str, normalization: Normalization) -> _MosesTokenizer:
    """Return Moses' rules for text of a language that was normalized in this way."""
    return _MosesTokenizer(language, normalization)
