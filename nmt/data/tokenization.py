"""Text to tokens and back: Moses' tokenizer (paper, Sec. 4.1) and detokenizer in their port sacremoses.

Moses' rules depend on a word (text between white space) and little else: whether it is the first or last word of the
line, and, after a full stop, whether the next word begins with a lower-case letter or a digit. So a word in one such
context always gives the same tokens, which are cached. Only apostrophes on both sides of a space depend on more; lines
with them are tokenized as a whole.

Moses' detokenizer attaches every currency symbol to the following token ("5 €par jour"). It knows only the typewriter
apostrophe, and this only before letters ("d '1"), no typographic quotes but those of German, no danda, and puts spaces
around / and &. Here a symbol stays behind its number, and tokens are joined as their language writes them before
Moses' rules see them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nmt.data.normalization import letters_beside_moses, normalize
from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines
from nmt.settings.text import Normalization, Tokenization

# joblib, which sacremoses imports for an option that is not used here, warns where /dev/shm is not writable
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=r".*joblib will operate in serial mode")
    import sacremoses as sacremoses


CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0e-\x1f]")
"""What tokenizer.perl deletes. Python takes the last four for spaces, Perl does not."""

_FACING_APOSTROPHES = re.compile(r"'\s+'")

_NEUTRAL, _LOWER, _DIGIT = "A", "a", "1"
"""Representatives for all neighbours of the same kind: each is one token and does not change other tokens."""

_REMEMBERED = 1 << 19
"""Maximum number of words in the cache, some hundred bytes each. The text of a shard has fewer distinct words."""


Rule = tuple[re.Pattern[str], str]
"""A pattern, and what replaces it."""


class _MosesTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
    """A faster sacremoses with equal tokens. sacremoses itself builds sets of 100,000 characters at every full stop."""

    IsAlpha: str
    IsAlnum: str
    PAD_NOT_ISALNUM: Rule
    AGGRESSIVE_HYPHEN_SPLIT: Rule
    ENGLISH_SPECIFIC_APOSTROPHE: list[Rule]
    FR_IT_SPECIFIC_APOSTROPHE: list[Rule]

    def __init__(self, language: str, normalization: Normalization) -> None:
        super().__init__(lang=language)
        self._take_for_letters(letters_beside_moses(normalization))
        self._lower = frozenset(self.IsLower)
        self._alpha = frozenset(self.IsAlpha)
        self._alnum = frozenset(self.IsAlnum)

    def _take_for_letters(self, more: str) -> None:
        """Add characters to Moses' letters, also in the patterns that are made of these."""

        def extended(rule: Rule) -> Rule:
            pattern = rule[0].pattern.replace(alnum, alnum + more).replace(alpha, alpha + more)
            return re.compile(pattern), rule[1]

        if more:
            alpha, alnum = self.IsAlpha, self.IsAlnum
            self.IsAlpha, self.IsAlnum = alpha + more, alnum + more
            self.PAD_NOT_ISALNUM = extended(self.PAD_NOT_ISALNUM)
            self.AGGRESSIVE_HYPHEN_SPLIT = extended(self.AGGRESSIVE_HYPHEN_SPLIT)
            self.ENGLISH_SPECIFIC_APOSTROPHE = [*map(extended, self.ENGLISH_SPECIFIC_APOSTROPHE)]
            self.FR_IT_SPECIFIC_APOSTROPHE = [*map(extended, self.FR_IT_SPECIFIC_APOSTROPHE)]

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


class Tokenizer:
    """Normalizes and tokenizes lines of one language. One object is made for all lines."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._moses = load_moses_rules(language, settings.normalization)
        self._settings = settings
        self._between = lru_cache(maxsize=_REMEMBERED)(self._between_neighbours)

    def __call__(self, line: str) -> str:
        """Return the tokens of `line` with single spaces between; an empty text for a line of white space."""
        line = normalize(CONTROL_CHARACTERS.sub("", line), self._settings.normalization)
        words = line.split()
        if len(words) < 2 or _FACING_APOSTROPHES.search(line):
            return self._whole(" ".join(words))
        tokens = [self._between("", words[0], self._neighbour(words[0], words[1]))]
        for word, after in pairwise(words[1:]):
            tokens.append(self._between(_NEUTRAL, word, self._neighbour(word, after)))
        return " ".join([*tokens, self._between(_NEUTRAL, words[-1], "")])

    def _neighbour(self, word: str, after: str) -> str:
        """Return a representative for the word `after`, for tokenizing `word`."""
        if not word.endswith("."):
            return _NEUTRAL
        if self._moses.islower(after[0]):
            return _LOWER
        return _DIGIT if after[0] in "0123456789" else _NEUTRAL

    def _between_neighbours(self, before: str, word: str, after: str) -> str:
        """Return the tokens of `word` between neighbours, which are one token each, or empty at an end of the line."""
        if self._moses.is_one_token(word):
            return word
        line = self._whole(" ".join(part for part in (before, word, after) if part))
        return line[len(before) + 1 if before else 0 : -len(after) - 1 if after else None]

    def _whole(self, line: str) -> str:
        text: str = self._moses.tokenize(
            line,
            aggressive_dash_splits=self._settings.split_hyphens,
            escape=self._settings.escape,
            return_str=True,
        )
        return " ".join(text.split())


def tokenize_file(path: Path, output: Path, language: str, settings: Tokenization) -> int:
    """Tokenize a file line by line, and return the number of lines."""
    tokenizer = Tokenizer(language, settings)
    with Progress.over_files([path], f"tokenize {path}") as progress, write_lines(output) as writer:
        for line in read_lines(path, progress):
            writer.write(tokenizer(line))
        return writer.line_count


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
_CURRENCY = "$€£¥¢"
_INITIALS = re.compile(r"[A-Z]{1,2}")
"""What stands on both sides of the ampersand in S&P, R&D or AT&T."""
_PRIVATE = range(0xE000, 0xF900)
"""Characters that replace currency symbols, so that Moses handles these like words."""


@lru_cache
def _detokenizer(language: str) -> sacremoses.MosesDetokenizer:
    return sacremoses.MosesDetokenizer(lang=language)


class Detokenizer:
    """Undoes `nmt.data.tokenization.Tokenizer` for one language and the same settings, as far as rules allow."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._language = language
        self._moses = _detokenizer(language)
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
        symbols = set(_CURRENCY if self._language in _CURRENCY_BEHIND else "¢")
        wrong = sorted(symbols.intersection(tokens)) + ["'"] * (self._language == "it")
        if not wrong:
            return {}
        taken = set().union(*tokens)
        free = (chr(code) for code in _PRIVATE if chr(code) not in taken)
        return dict(zip(wrong, free, strict=False))


def _behind(tokens: Sequence[str], place: int) -> bool:
    """Return whether a currency symbol belongs to the token before it, which is so unless only a number follows."""
    after_number = place > 0 and tokens[place - 1][-1].isdigit()
    before_number = place + 1 < len(tokens) and tokens[place + 1][0].isdigit()
    return after_number or not before_number


def _clipped(tokens: Sequence[str], stand_in: str) -> list[str]:
    """Join the apostrophe of clipped Italian words with these alone: un po &apos; di. Moses joins it with the next."""
    words: list[str] = []
    for token in tokens:
        if words and token in _APOSTROPHES and _CLIPPED.fullmatch(words[-1]):
            words[-1] += token if token == "’" else stand_in
        else:
            words.append(token)
    return words


def _joined(tokens: Sequence[str], language: str) -> list[str]:
    """Join what the language writes without a space and Moses' rules leave apart: l ’ homme, it ’ s, km / h, है ।."""
    words: list[str] = []
    glued = False
    for place, token in enumerate(tokens):
        before = words[-1] if words else ""
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        left, right = _sides(before, token, after, language)
        if words and (glued or left):
            words[-1] += token
        else:
            words.append(token)
        glued = right
    return words


def _sides(before: str, token: str, after: str, language: str) -> tuple[bool, bool]:
    """Return whether a token is joined with the one before, and with the one after."""
    if token in _APOSTROPHES:
        return _around_apostrophe(before, token, after, language) if before else (False, False)
    if token == "/" or token in ("&", "&amp;"):
        meet = before[-1:].isalnum() and after[:1].isalnum()
        meet &= token == "/" or bool(_INITIALS.fullmatch(before) and _INITIALS.fullmatch(after))
        return meet, meet
    opens = (token == "“" and language in _CURLY) or (token == "«" and language in _GUILLEMETS)
    closes = (token == "”" and language in _CURLY) or (token == "»" and language in _GUILLEMETS)
    number_sign = token == "°" and language == "fr" and before.lower() == "n"
    is_currency = len(token) == 1 and ord(token) in _PRIVATE and language in ("en", "fr")
    unit = is_currency and (before[-1:].isdigit() if language == "en" else before in ("M", "Md"))
    return closes or number_sign or unit or token in _DANDAS, opens


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


# the tokenizer knows those of ASCII; the others could reach a terminal as words that were copied
_ACTED_ON = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


UNKNOWN_LETTERS = "ꙖꙘꙔꙐ"
"""Capitals of Old Slavonic. One that a line does not have stands for `[UNK]`, so that Moses takes it for a word."""
_ELIDED_UNKNOWN = re.compile(rf"(?<=\w') (?={re.escape(UNKNOWN_WORD)})")


class RawText:
    """Raw text of one language, tokenized as the model's training text. Control characters are left out.

    What a model printed can be read again: `[UNK]` is one token, the unknown word, and not a word in brackets.
    """

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._language = language
        self._tokenize = Tokenizer(language, settings)
        self._detokenize = Detokenizer(language, settings)

    def tokenize(self, line: str) -> list[str]:
        """Return the tokens of a line. Half of a surrogate pair becomes U+FFFD."""
        line = _visible(line)
        if UNKNOWN_WORD not in line:
            return self._tokenize(line).split()
        if self._language in ("fr", "it"):  # written with a space that no word has there: l' [UNK]
            line = _ELIDED_UNKNOWN.sub("", line)
        stand_in = next((letter for letter in UNKNOWN_LETTERS if letter not in line), UNKNOWN_WORD)
        tokens = self._tokenize(line.replace(UNKNOWN_WORD, stand_in)).split()
        return [token.replace(stand_in, UNKNOWN_WORD) for token in tokens]

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens as a line without line breaks."""
        return self._detokenize(tokens)


class TokenText:
    """Tokenized text, with spaces between the tokens, in any language. Control characters are left out."""

    def tokenize(self, line: str) -> list[str]:
        """Split a line at white space of any kind."""
        return _visible(line).split()

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the tokens with single spaces between."""
        return " ".join(tokens)


TextCodec = RawText | TokenText


def _visible(line: str) -> str:
    return _ACTED_ON.sub("", line.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
