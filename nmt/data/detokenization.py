"""Tokens to text with Moses' detokenizer, and rules that it lacks.

Moses' detokenizer attaches every currency symbol to the following token ("5 €par jour"). It knows only the typewriter
apostrophe, and this only before letters ("d '1"), no typographic quotes but those of German, no danda, and puts spaces
around / and &. Here a symbol stays after its number, and tokens are joined as their language writes them before Moses'
rules see them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.data.moses import sacremoses
from nmt.settings.text import Tokenization

_LANGUAGES_WITH_TRAILING_CURRENCY = frozenset({"fr", "it", "es", "de", "pt", "fi", "cs"})
"""Languages that write 5 €, not €5."""
_LANGUAGES_WITH_CURLY_QUOTES = frozenset({"ca", "en", "es", "fr", "ga", "it", "nl", "pt"})
"""Languages that write “so”."""
_LANGUAGES_WITH_GUILLEMETS = frozenset({"ca", "el", "es", "it", "pt", "ru"})
"""Languages that write «so», without spaces."""
_PLACEHOLDERS = dict(
    zip("$€£¥¢'", "\U0010fff0\U0010fff1\U0010fff2\U0010fff3\U0010fff4\U0010fff5", strict=True)
)
"""Private characters that stand for symbols which Moses would attach to the wrong side. It takes them for words."""
_SYMBOLS = str.maketrans({placeholder: symbol for symbol, placeholder in _PLACEHOLDERS.items()})


class Detokenizer:
    """Undoes `nmt.data.tokenization.Tokenizer` for one language and the same settings, as far as rules allow."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._moses = sacremoses.MosesDetokenizer(lang=language)
        self._unescape = settings.escape
        self._hidden_symbol = _compile_hidden_symbol(language)
        self._joins = _compile_joins(language)

    def __call__(self, tokens: Sequence[str]) -> str:
        """Return the text of one line, or "" for no tokens."""
        line = self._hidden_symbol.sub(lambda match: _PLACEHOLDERS[match[0]], " ".join(tokens))
        for pattern, replacement in self._joins:
            line = pattern.sub(replacement, line)
        text: str = self._moses.detokenize(line.split(), return_str=True, unescape=self._unescape)
        return text.translate(_SYMBOLS)


def _compile_hidden_symbol(language: str) -> re.Pattern[str]:
    """Return the pattern of a currency symbol that belongs to the previous token."""
    # cents stand after their number in every language
    symbols = "[$€£¥¢]" if language in _LANGUAGES_WITH_TRAILING_CURRENCY else "¢"
    # the symbol comes after a number, or not before one
    return re.compile(rf"(?<!\S)(?:(?<=\d ){symbols}(?!\S)|{symbols}(?!\S| \d))")


def _compile_joins(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns and replacements that join tokens which the language writes without a space.

    They are for a line of tokens with spaces between. (?<!\\S) is the start of a token, (?!\\S) its end.
    """
    hidden_symbols = "".join(_PLACEHOLDERS.values())
    joins = [
        (r"(?<=\d) ’ (?=\d)", "’"),  # 1 ’ 000 -> 1’000
        (r"(?<=\w) / (?=\w)", "/"),  # km / h -> km/h
        (r"(?<!\S)([A-Z]{1,2}) (&|&amp;) (?=[A-Z]{1,2}(?!\S))", r"\1\2"),  # S & P -> S&P
        (r" (?=[।॥](?!\S))", ""),  # है । -> है।
    ]
    if language in _LANGUAGES_WITH_CURLY_QUOTES:
        joins += [("“ ", "“"), (" ”", "”")]
    if language in _LANGUAGES_WITH_GUILLEMETS:
        joins += [("« ", "«"), (" »", "»")]

    if language in ("fr", "ca"):  # l ’ homme -> l’homme, aujourd ’ hui -> aujourd’hui
        joins.append(
            (r"(?i)(?<![^\s’])((?:\S*-)?(?:[cdjlmnst]|\w*qu|aujourd|entr)) (’|'|&apos;) (?=[\w«“])", r"\1\2")
        )
    if language == "fr":
        joins.append((r"(?<!\S)([Nn]) (?=°(?!\S))", r"\1"))  # n ° -> n°
        joins.append((rf"(?<!\S)(Md?) (?=[{hidden_symbols}])", r"\1"))  # 90 M $ -> 90 M$
    if language == "en":
        joins += [
            (r"(?i)(?<=[^\W\d_]) ’ (?=(?:s|t|d|m|ll|re|ve)(?!\S))", "’"),  # it ’ s -> it’s
            (r"(?<=s) (?=’(?!\S))", ""),  # boys ’ books -> boys’ books
            (rf"(?<=\d) (?=[{hidden_symbols}])", ""),  # 82 ¢ -> 82¢
        ]
    if language == "it":  # un po ' di -> un po' di
        clipped_word = r"(?i)(?<!\S)(po|mo|be|va|fa|da|di|sta)"
        joins.append((rf"{clipped_word} ’(?!\S)", r"\1’"))
        hidden_apostrophe = _PLACEHOLDERS["'"]
        joins.append((rf"{clipped_word} (?:'|&apos;)(?!\S)", rf"\1{hidden_apostrophe}"))
    if language in ("it", "ga"):
        joins.append((r"(?<=[^\W\d_]) ’ (?=[^\W\d_])", "’"))  # dell ’ anno -> dell’anno
    return [(re.compile(pattern), replacement) for pattern, replacement in joins]
