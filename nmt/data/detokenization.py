"""Detokenization: Moses' detokenizer in its port sacremoses, with corrections for French.

Moses attaches every currency symbol to the following token ("5 €par jour"). It knows only the typewriter apostrophe,
and this only before letters ("d '1"). Here a symbol stays behind its number, and both apostrophes join their
neighbours.
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
"""English endings after an apostrophe: it's, don't."""
_CURRENCY = "$€£¥"
_PRIVATE = range(0xE000, 0xF900)
"""Characters that replace currency symbols, so that Moses handles these like words."""


@lru_cache
def _moses(language: str) -> sacremoses.MosesDetokenizer:
    return sacremoses.MosesDetokenizer(lang=language)


class Detokenizer:
    """Undoes `nmt.data.tokenization.Tokenizer` for one language and the same settings, as far as rules allow."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._language = language
        self._moses = _moses(language)
        self._escaped = settings.escape

    def __call__(self, tokens: Sequence[str]) -> str:
        """Return the text of one line; an empty text for no tokens."""
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
        """Return a replacement character, which occurs in no token, for each currency symbol among the tokens."""
        found = sorted(set(_CURRENCY).intersection(tokens))
        if not found or self._language not in _CURRENCY_BEHIND:
            return {}
        taken = set().union(*tokens)
        free = (chr(code) for code in _PRIVATE if chr(code) not in taken)
        return dict(zip(found, free, strict=False))


def _behind(tokens: Sequence[str], place: int) -> bool:
    """Return whether a currency symbol belongs to the token before it, which is so unless only a number follows."""
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
    """Return whether a token is an apostrophe that joins both of its neighbours."""
    if language == "fr":
        elided = before.rpartition("’")[2]
        return apostrophe in _APOSTROPHES and after[0].isalnum() and _ELIDED.fullmatch(elided) is not None
    if apostrophe != "’" or not (before[-1].isalpha() and after[0].isalpha()):
        return False
    return _CONTRACTED.fullmatch(after) is not None if language == "en" else language in ("it", "ga")
