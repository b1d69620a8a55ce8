"""Detokenization: Moses' detokenizer in its port sacremoses, with corrections.

Moses attaches every currency symbol to the following token ("5 €par jour"). It knows only the typewriter apostrophe,
and this only before letters ("d '1"), no typographic quotes but those of German, and no danda. Here a symbol stays
behind its number, and tokens are joined as their language writes them before Moses' rules see them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from nmt.data.moses import sacremoses
from nmt.settings.text import Tokenization

_CURRENCY_BEHIND = frozenset({"fr", "it", "es", "de", "pt", "fi", "cs"})
"""Languages that write 5 €, not €5."""
_ELIDED = re.compile(r"(?:.*-)?(?:[cdjlmnst]|\w*qu|aujourd|entr)", re.IGNORECASE)
"""French and Catalan words that end in an apostrophe; in Italian any word may."""
_CLIPPED = re.compile(r"(?:po|mo|be|va|fa|da|di|sta)", re.IGNORECASE)
"""Italian words that end in an apostrophe and a space: un po' di."""
_APOSTROPHES = frozenset({"’", "'", "&apos;"})
_CONTRACTED = re.compile(r"(?:s|t|d|m|ll|re|ve)", re.IGNORECASE)
"""English endings after an apostrophe: it's, don't."""
_CURLY = frozenset({"ca", "en", "es", "fr", "ga", "it", "nl", "pt"})
"""Languages that write “so”."""
_GUILLEMETS = frozenset({"ca", "el", "es", "it", "pt", "ru"})
"""Languages that write «so», without spaces."""
_DANDAS = frozenset("।॥")
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
            stand_ins[token]
            if token in _CURRENCY and token in stand_ins and _behind(tokens, place)
            else token
            for place, token in enumerate(tokens)
        ]
        if self._language == "it":
            words = _clipped(words, stand_ins.get("'", "'"))
        text: str = self._moses.detokenize(
            _joined(words, self._language), return_str=True, unescape=self._escaped
        )
        return text.translate({ord(stand_in): symbol for symbol, stand_in in stand_ins.items()})

    def _stand_ins(self, tokens: Sequence[str]) -> dict[str, str]:
        """Return a replacement character, which occurs in no token, for each symbol that Moses treats wrongly."""
        found = sorted(set(_CURRENCY).intersection(tokens)) if self._language in _CURRENCY_BEHIND else []
        found += ["'"] if self._language == "it" else []
        if not found:
            return {}
        taken = set().union(*tokens)
        free = (chr(code) for code in _PRIVATE if chr(code) not in taken)
        return dict(zip(found, free, strict=False))


def _behind(tokens: Sequence[str], place: int) -> bool:
    """Return whether a currency symbol belongs to the token before it, which is so unless only a number follows."""
    after_number = place > 0 and tokens[place - 1][-1].isdigit()
    before_number = place + 1 < len(tokens) and tokens[place + 1][0].isdigit()
    return after_number or not before_number


def _clipped(tokens: Sequence[str], stand_in: str) -> list[str]:
    """Join the apostrophe of clipped Italian words with these alone: un po &apos; di. Moses joins it with the next."""
    found: list[str] = []
    for token in tokens:
        if found and token in _APOSTROPHES and _CLIPPED.fullmatch(found[-1]):
            found[-1] += token if token == "’" else stand_in
        else:
            found.append(token)
    return found


def _joined(tokens: Sequence[str], language: str) -> list[str]:
    """Join what the language writes without a space and Moses' rules leave apart: l ’ homme, it ’ s, « да », है ।."""
    found: list[str] = []
    glued = False
    for place, token in enumerate(tokens):
        before = found[-1] if found else ""
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        left, right = _sides(before, token, after, language)
        if found and (glued or left):
            found[-1] += token
        else:
            found.append(token)
        glued = right
    return found


def _sides(before: str, token: str, after: str, language: str) -> tuple[bool, bool]:
    """Return whether a token is joined with the one before, and with the one after."""
    if token in _APOSTROPHES:
        return _around_apostrophe(before, token, after, language) if before else (False, False)
    opens = (token == "“" and language in _CURLY) or (token == "«" and language in _GUILLEMETS)
    closes = (token == "”" and language in _CURLY) or (token == "»" and language in _GUILLEMETS)
    number_sign = token == "°" and language == "fr" and before.lower() == "n"
    return closes or number_sign or token in _DANDAS, opens


def _around_apostrophe(before: str, apostrophe: str, after: str, language: str) -> tuple[bool, bool]:
    typographic = apostrophe == "’"
    if typographic and before[-1].isdigit() and after[:1].isdigit():
        return True, True
    if language in ("fr", "ca") and after and _ELIDED.fullmatch(before.rpartition("’")[2]):
        meet = after[0].isalnum() or after in ("«", "“")
        return meet, meet
    if not typographic or not before[-1].isalpha():
        return False, False
    if language == "en":
        ending = _CONTRACTED.fullmatch(after) is not None
        return ending or before[-1] == "s", ending
    meet = language in ("it", "ga") and after[:1].isalpha()
    return meet, meet
