"""Tokens to text with Moses' detokenizer, and rules that it lacks.

Moses' detokenizer attaches every currency symbol to the following token ("5 €par jour"). It knows only the typewriter
apostrophe, and this only before letters ("d '1"), no typographic quotes but those of German, and puts spaces around /
and &. Here a symbol stays after its number, and tokens are joined as their language writes them before Moses'
rules see them. Afterwards, spaces that no language has are removed: before the punctuation of other scripts, beside the
wide punctuation of Chinese and Japanese, and within letters and emoji of several characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.data.characters import (
    BORDER,
    CLOSING,
    EXTENDER,
    IDEOGRAPH,
    OPENING,
    WIDE_PUNCTUATION,
    compile_pattern,
    format_for_browser,
)
from nmt.data.moses import sacremoses
from nmt.settings.text import Tokenization

_LANGUAGES_WITH_TRAILING_CURRENCY = frozenset({"fr", "it", "es", "de", "pt", "fi", "cs"})
"""Languages that write 5 €, not €5."""
_PLACEHOLDERS = dict(
    zip("$€£¥¢'", "\U0010fff0\U0010fff1\U0010fff2\U0010fff3\U0010fff4\U0010fff5", strict=True)
)
"""Private characters that stand for symbols which Moses would attach to the wrong side. It takes them for words."""
_SYMBOLS = str.maketrans({placeholder: symbol for symbol, placeholder in _PLACEHOLDERS.items()})

_CLIPPED_WORD = r"(?i)(?<!\S)(po|mo|be|va|fa|da|di|sta)"
_APOSTROPHE = _PLACEHOLDERS["'"]
_SYMBOL = f"[{''.join(_PLACEHOLDERS.values())}]"
_JOINS = (
    (".*", r"(?<=\d) ’ (?=\d)", "’"),  # 1 ’ 000 -> 1’000
    (".*", r"(?<=\w) / (?=\w)", "/"),  # km / h -> km/h
    (".*", r"(?<!\S)([A-Z]{1,2}) (&|&amp;) (?=[A-Z]{1,2}(?!\S))", r"\1\2"),  # S & P -> S&P
    ("(?!fr$).*", r"(?<=\d) : (?=\d)", ":"),  # 12 : 30 -> 12:30
    ("el", r" (?=·(?!\S))", ""),  # λόγος · -> λόγος·
    ("ca|en|es|fr|ga|it|nl|pt", "“ ", "“"),
    ("ca|en|es|fr|ga|it|nl|pt", " ”", "”"),
    ("ca|el|es|it|pt|ru", "« ", "«"),
    ("ca|el|es|it|pt|ru", " »", "»"),
    # l ’ homme -> l’homme, aujourd ’ hui -> aujourd’hui
    (
        "fr|ca",
        r"(?i)(?<![^\s’])((?:\S*-)?(?:[cdjlmnst]|\w*qu|aujourd|entr)) (’|'|&apos;) (?=[\w«“])",
        r"\1\2",
    ),
    ("fr", r"(?<!\S)([Nn]) (?=°(?!\S))", r"\1"),  # n ° -> n°
    ("fr", rf"(?<!\S)(Md?) (?={_SYMBOL})", r"\1"),  # 90 M $ -> 90 M$
    ("en", r"(?i)(?<=[^\W\d_]) ’ (?=(?:s|t|d|m|ll|re|ve)(?!\S))", "’"),  # it ’ s -> it’s
    ("en", r"(?<=s) (?=’(?!\S))", ""),  # boys ’ books -> boys’ books
    ("en", rf"(?<=\d) (?={_SYMBOL})", ""),  # 82 ¢ -> 82¢
    ("it", rf"{_CLIPPED_WORD} ’(?!\S)", r"\1’"),  # un po ’ di -> un po’ di
    ("it", rf"{_CLIPPED_WORD} (?:'|&apos;)(?!\S)", rf"\1{_APOSTROPHE}"),  # un po ' di -> un po' di
    ("it|ga", r"(?<=[^\W\d_]) ’ (?=[^\W\d_])", "’"),  # dell ’ anno -> dell’anno
)
"""How to join tokens that a language writes without a space. A row has a pattern for the codes of languages, a pattern
for the line of tokens with spaces between, and the replacement. (?<!\\S) is the start of a token, (?!\\S) its end."""

_CJK_START = re.compile(
    rf"(?<!\S)(?=[{''.join(f'{chr(start)}-{chr(end)}' for start, end in sacremoses.util.CJKChars().ranges)}])"
)
"""The start of a token that Moses would join to another one of Chinese, Japanese or Korean characters."""
_NO_CJK = "\U0010fff6"
"""A private character at the start of such tokens if they are words, and not the single characters that Moses makes."""

_CLASSES = {
    "<closing>": CLOSING,
    "<opening>": OPENING,
    "<wide>": WIDE_PUNCTUATION,
    "<border>": BORDER,
    "<extender>": EXTENDER,
    "<ideograph>": IDEOGRAPH,
}
_WRONG_SPACE = (
    " (?=[<closing><wide><border><extender>])"  # كيف ؟ -> كيف؟
    "|(?<=[<opening><wide><border>]) "
    # 说 "好" 了 -> 说"好"了
    r"""|(?<=[<ideograph>]) (?=["'“‘(][<ideograph>])|(?<=[<ideograph><wide>] ?["'”’)]) (?=[<ideograph>])"""
    r"|(?<=[<ideograph><wide>]) (?=[”’])"
    # emoji that Moses has cut: flags of two letters, and families
    r"|(?<=(?<!\p{RI})\p{RI}) (?=\p{RI}(?!\p{RI}))|(?<=\u200d) (?=\p{Extended_Pictographic})"
)
"""Pattern of a space that no language has in its text."""
_WRONG_SPACE_PATTERN = compile_pattern(_WRONG_SPACE, _CLASSES)


def make_browser_pattern() -> str:
    """Return the pattern of a wrong space for text.js."""
    return format_for_browser(_WRONG_SPACE, _CLASSES)


class Detokenizer:
    """Undoes `nmt.data.tokenization.Tokenizer` for one language and the same settings, as far as rules allow."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._moses = sacremoses.MosesDetokenizer(lang=language)
        self._unescape = settings.escape
        self._has_whole_words = settings.normalization != "none"
        self._hidden_symbol = _compile_hidden_symbol(language)
        self._joins = _compile_joins(language)

    def __call__(self, tokens: Sequence[str]) -> str:
        """Return the text of one line, or "" for no tokens."""
        # 1. hide symbols that Moses would attach to the wrong side, and apply the rules that it lacks
        line = self._hidden_symbol.sub(lambda match: _PLACEHOLDERS[match[0]], " ".join(tokens))
        for pattern, replacement in self._joins:
            line = pattern.sub(replacement, line)
        if self._has_whole_words and not line.isascii():
            line = _CJK_START.sub(_NO_CJK, line)

        # 2. apply Moses' rules, bring the symbols back, and remove spaces that no language has
        text: str = self._moses.detokenize(line.split(), return_str=True, unescape=self._unescape)
        text = text.translate(_SYMBOLS)
        return text if text.isascii() else _WRONG_SPACE_PATTERN.sub("", text.replace(_NO_CJK, ""))


def _compile_hidden_symbol(language: str) -> re.Pattern[str]:
    """Return the pattern of a currency symbol that belongs to the previous token."""
    # cents stand after their number in every language
    symbols = "[$€£¥¢]" if language in _LANGUAGES_WITH_TRAILING_CURRENCY else "¢"
    # a token that comes after a number ("5 € par jour"), or that does not come before one ("des € par jour")
    return re.compile(rf"(?<!\S)(?:(?<=\d ){symbols}(?!\S)|{symbols}(?!\S| \d))")


def _compile_joins(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns and replacements of `_JOINS` for a language."""
    return [
        (re.compile(pattern), replacement)
        for languages, pattern, replacement in _JOINS
        if re.fullmatch(languages, language)
    ]
