"""From tokens back to text: Moses' detokenizer through its port sacremoses, with what it lacks for real French.

Moses puts every currency symbol before what follows ("5 €par jour"), knows the typewriter's apostrophe only, and that
one only before letters ("d '1"). Here a symbol stays behind its number, and both apostrophes join what they stand
between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from nmt.data.moses import sacremoses
from nmt.settings.text import Tokenization

_CURRENCY_BEHIND = frozenset({"fr", "it", "es", "de", "pt", "fi", "cs"})
"""Languages that write 5 €, not €5."""
_ELIDED = re.compile(r"(?:[cdjlmnst]|\w*qu|aujourd|entr)", re.IGNORECASE)
"""French words that end in an apostrophe; in Italian any word may."""
_APOSTROPHES = frozenset({"’", "'", "&apos;"})
_CONTRACTED = re.compile(r"(?:s|t|d|m|ll|re|ve)", re.IGNORECASE)
"""What follows an apostrophe in English: it's, don't."""
_CURRENCY = "$€£¥"
_PRIVATE = range(0xE000, 0xF900)
"""Characters of which some stand for symbols that are words like others."""


@lru_cache
def _moses(language: str) -> sacremoses.MosesDetokenizer:
    return sacremoses.MosesDetokenizer(lang=language)


class Detokenizer:
    """Undoes `nmt.data.tokenization.Tokenizer` for one language and the same settings, as far as rules can."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._language = language
        self._moses = _moses(language)
        self._escaped = settings.escape

    def __call__(self, tokens: Sequence[str]) -> str:
        """Text of one line; nothing for no tokens."""
        if not tokens:
            return ""
        stand_ins = self._stand_ins(tokens)
        words = [
            stand_ins[token] if token in stand_ins and _behind(tokens, place) else token
            for place, token in enumerate(tokens)
        ]
        text: str = self._moses.detokenize(
            _with_apostrophes(words, self._language), return_str=True, unescape=self._escaped
        )
        return text.translate({ord(stand_in): symbol for symbol, stand_in in stand_ins.items()})

    def _stand_ins(self, tokens: Sequence[str]) -> dict[str, str]:
        """A character for each currency symbol among the tokens; none of the tokens has it."""
        found = sorted(set(_CURRENCY).intersection(tokens))
        if not found or self._language not in _CURRENCY_BEHIND:
            return {}
        taken = set().union(*tokens)
        free = (chr(code) for code in _PRIVATE if chr(code) not in taken)
        return dict(zip(found, free, strict=False))


def _behind(tokens: Sequence[str], place: int) -> bool:
    """Whether a currency symbol stays behind what is before it: unless only a number follows."""
    after_number = place > 0 and tokens[place - 1][-1].isdigit()
    before_number = place + 1 < len(tokens) and tokens[place + 1][0].isdigit()
    return after_number or not before_number


def _with_apostrophes(tokens: Sequence[str], language: str) -> list[str]:
    """Join words around an apostrophe that is a token of its own: l ’ homme, it ’ s, d ' 1."""
    joined: list[str] = []
    place = 0
    while place < len(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if joined and after and _meet(joined[-1], tokens[place], after, language):
            joined[-1] += tokens[place] + after
            place += 1
        else:
            joined.append(tokens[place])
        place += 1
    return joined


def _meet(before: str, apostrophe: str, after: str, language: str) -> bool:
    """Whether a token is an apostrophe that belongs to both of its neighbours."""
    if language == "fr":
        elided = before.rpartition("’")[2]
        return apostrophe in _APOSTROPHES and after[0].isalnum() and _ELIDED.fullmatch(elided) is not None
    if apostrophe != "’" or not (before[-1].isalpha() and after[0].isalpha()):
        return False
    return _CONTRACTED.fullmatch(after) is not None if language == "en" else language in ("it", "ga")
