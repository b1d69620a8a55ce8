"""Tokens to text with Moses' detokenizer, and rules that it lacks.

Moses' detokenizer attaches every currency symbol to the following token ("5 €par jour"). It knows only the typewriter
apostrophe, and this only before letters ("d '1"), no typographic quotes but those of German, no danda, and puts spaces
around / and &. Here a symbol stays after its number, and tokens are joined as their language writes them before Moses'
rules see them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from nmt.data.moses import sacremoses
from nmt.settings.text import Tokenization

_LANGUAGES_WITH_TRAILING_CURRENCY = frozenset({"fr", "it", "es", "de", "pt", "fi", "cs"})
"""Languages that write 5 €, not €5."""
_LANGUAGES_WITH_CURLY_QUOTES = frozenset({"ca", "en", "es", "fr", "ga", "it", "nl", "pt"})
"""Languages that write “so”."""
_LANGUAGES_WITH_GUILLEMETS = frozenset({"ca", "el", "es", "it", "pt", "ru"})
"""Languages that write «so», without spaces."""
_ELIDED_WORD = re.compile(r"(?:.*-)?(?:[cdjlmnst]|\w*qu|aujourd|entr)", re.IGNORECASE)
"""French and Catalan words that end in an apostrophe; in Italian any word may."""
_CLIPPED_WORD = re.compile(r"(?:po|mo|be|va|fa|da|di|sta)", re.IGNORECASE)
"""Italian words that end in an apostrophe and a space: un po' di."""
_CONTRACTED_ENDING = re.compile(r"(?:s|t|d|m|ll|re|ve)", re.IGNORECASE)
"""English endings after an apostrophe: it's, don't."""
_INITIALS = re.compile(r"[A-Z]{1,2}")
"""Initials before and after the ampersand of S&P, R&D or AT&T."""
_APOSTROPHES = frozenset({"’", "'", "&apos;"})
_DANDAS = frozenset("।॥")
_CURRENCY = "$€£¥¢"
_PRIVATE_CODES = range(0xE000, 0xF900)
"""Characters that replace currency symbols, so that Moses handles these like words."""


@lru_cache
def _load_moses_detokenizer(language: str) -> sacremoses.MosesDetokenizer:
    return sacremoses.MosesDetokenizer(lang=language)


class Detokenizer:
    """Undoes `nmt.data.tokenization.Tokenizer` for one language and the same settings, as far as rules allow."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._language = language
        self._moses = _load_moses_detokenizer(language)
        self._unescape = settings.escape

    def __call__(self, tokens: Sequence[str]) -> str:
        """Return the text of one line, or "" for no tokens."""
        if not tokens:
            return ""

        # hide currency symbols and Italian apostrophes from Moses, which would attach them to the wrong side
        placeholders = self._choose_placeholders(tokens)
        words = []
        for index, token in enumerate(tokens):
            if token in _CURRENCY and token in placeholders and _belongs_to_previous(tokens, index):
                token = placeholders[token]
            words.append(token)
        if self._language == "it":  # ["un", "po", "'", "di"] -> ["un", "po'", "di"]
            words = _join_clipped_words(words, apostrophe=placeholders.get("'", "'"))

        text: str = self._moses.detokenize(
            _join_words(words, self._language), return_str=True, unescape=self._unescape
        )
        return text.translate({ord(placeholder): symbol for symbol, placeholder in placeholders.items()})

    def _choose_placeholders(self, tokens: Sequence[str]) -> dict[str, str]:
        """Return a character that occurs in no token for each symbol that Moses treats wrongly."""
        # cents stand after their number in every language
        symbols = sorted(_CURRENCY) if self._language in _LANGUAGES_WITH_TRAILING_CURRENCY else ["¢"]
        used_symbols = [symbol for symbol in symbols if symbol in tokens]
        if self._language == "it":
            used_symbols.append("'")  # of clipped words

        used_characters = set("".join(tokens))
        free_characters = (chr(code) for code in _PRIVATE_CODES if chr(code) not in used_characters)
        return dict(zip(used_symbols, free_characters, strict=False))


def _belongs_to_previous(tokens: Sequence[str], index: int) -> bool:
    """Return whether a currency symbol belongs to the previous token: it follows a number, or no number follows it."""
    is_after_number = index > 0 and tokens[index - 1][-1].isdigit()
    is_before_number = index + 1 < len(tokens) and tokens[index + 1][0].isdigit()
    return is_after_number or not is_before_number


def _join_clipped_words(tokens: Sequence[str], apostrophe: str) -> list[str]:
    """Join an apostrophe only with the clipped Italian word before it: un po' di.

    Moses would join it with the next word as well. `apostrophe` replaces the typewriter's, to hide it from Moses.
    """
    words: list[str] = []
    for token in tokens:
        if words and token in _APOSTROPHES and _CLIPPED_WORD.fullmatch(words[-1]):
            words[-1] += token if token == "’" else apostrophe
        else:
            words.append(token)
    return words


def _join_words(tokens: Sequence[str], language: str) -> list[str]:
    """Join tokens that the language writes without a space, but Moses separates: l ’ homme, it ’ s, km / h, है ।."""
    words: list[str] = []
    joins_next = False
    for token, next_token in zip(tokens, [*tokens[1:], ""], strict=True):
        previous_word = words[-1] if words else ""
        is_joined = joins_next
        joins_previous, joins_next = _find_joins(previous_word, token, next_token, language)
        if words and (is_joined or joins_previous):
            words[-1] += token
        else:
            words.append(token)
    return words


def _find_joins(previous_word: str, token: str, next_token: str, language: str) -> tuple[bool, bool]:
    """Return whether a token is joined with the previous word, and whether it is joined with the next token."""
    if token in _APOSTROPHES:
        return _find_joins_of_apostrophe(previous_word, token, next_token, language)
    if token in ("/", "&", "&amp;"):
        is_joined = previous_word[-1:].isalnum() and next_token[:1].isalnum()
        if token != "/" and not (_INITIALS.fullmatch(previous_word) and _INITIALS.fullmatch(next_token)):
            is_joined = False
        return is_joined, is_joined

    # quotation marks
    if token in ("“", "”"):
        has_curly_quotes = language in _LANGUAGES_WITH_CURLY_QUOTES
        return has_curly_quotes and token == "”", has_curly_quotes and token == "“"
    if token in ("«", "»"):
        has_guillemets = language in _LANGUAGES_WITH_GUILLEMETS
        return has_guillemets and token == "»", has_guillemets and token == "«"

    # signs after a word or number: n°, 82¢, 90 M$
    if token == "°":
        return language == "fr" and previous_word.lower() == "n", False
    if len(token) == 1 and ord(token) in _PRIVATE_CODES:
        if language == "en":
            return previous_word[-1:].isdigit(), False
        return language == "fr" and previous_word in ("M", "Md"), False
    return token in _DANDAS, False


def _find_joins_of_apostrophe(
    previous_word: str, apostrophe: str, next_token: str, language: str
) -> tuple[bool, bool]:
    """Return whether an apostrophe is joined with the previous word, and whether it is joined with the next token."""
    if not previous_word:
        return False, False
    is_typographic = apostrophe == "’"
    if is_typographic and previous_word[-1].isdigit() and next_token[:1].isdigit():  # 1’000
        return True, True
    last_part = previous_word.rpartition("’")[2]  # "qu" of d’qu
    if language in ("fr", "ca") and next_token and _ELIDED_WORD.fullmatch(last_part):
        is_joined = next_token[0].isalnum() or next_token in ("«", "“")
        return is_joined, is_joined
    if not is_typographic or not previous_word[-1].isalpha():
        return False, False
    if language == "en":
        is_contraction = _CONTRACTED_ENDING.fullmatch(next_token) is not None
        return is_contraction or previous_word[-1] == "s", is_contraction
    is_joined = language in ("it", "ga") and next_token[:1].isalpha()
    return is_joined, is_joined
