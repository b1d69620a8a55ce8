"""Text to tokens with Moses' tokenizer (paper, Sec. 4.1), and the text that a model reads and writes.

Moses' rules depend on a word (text between white space) and little else: whether it is the first or last word of the
line, and, after a full stop, whether the next word begins with a lower-case letter or a digit. So a word in one such
context always gives the same tokens, which are cached. Only apostrophes on both sides of a space depend on more; lines
with them are tokenized as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nmt.data.detokenization import Detokenizer
from nmt.data.moses import load_moses_rules
from nmt.data.normalization import normalize, repair_line
from nmt.data.parts_of_words import PartsOfWords
from nmt.data.vocabulary import UNKNOWN_WORD
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines
from nmt.settings.text import Tokenization

_FACING_APOSTROPHES = re.compile(r"'\s+'")

_NEUTRAL, _LOWER, _DIGIT = "A", "a", "1"
"""Words that stand for all neighbours of the same kind. Each is one token, and does not change other tokens."""

_CACHED_WORDS = 1 << 17
"""Maximum number of words in the cache, some hundred bytes each."""


class Tokenizer:
    """Repairs, normalizes and tokenizes lines of one language. Use one object for all lines, since it caches words."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._moses = load_moses_rules(language, settings.normalization)
        self._settings = settings
        self._parts_of_words = None if settings.normalization == "none" else PartsOfWords(language)
        self._tokenize_word = lru_cache(maxsize=_CACHED_WORDS)(self._tokenize_word_uncached)

    def __call__(self, line: str) -> str:
        """Return the tokens of a line with single spaces between, or "" for a line of white space."""
        line = normalize(repair_line(line), self._settings.normalization)
        if self._parts_of_words is None:
            return self._tokenize_line(line)

        # Moses would cut some marks from their words, and emoji into pieces. So letters replace these parts until
        # Moses has tokenized the line.
        line, hidden_parts = self._parts_of_words.hide(line)
        tokens = self._tokenize_line(line)
        for placeholder, part in hidden_parts.items():
            escaped_part = self._moses.escape_xml(part) if self._settings.escape else part
            tokens = tokens.replace(placeholder, escaped_part)
        return tokens

    def _tokenize_line(self, line: str) -> str:
        """Return the tokens of a normalized line."""
        # tokenize a line as a whole if it is short, or if tokens depend on more than the neighbouring words
        words = line.split()
        if len(words) < 2 or _FACING_APOSTROPHES.search(line):
            return self._tokenize_text(" ".join(words))

        # tokenize each word between placeholders for its neighbours, so that few different contexts are cached
        word_tokens = []
        previous_word = ""
        for word, next_word in pairwise(words):
            word_tokens.append(self._tokenize_word(previous_word, word, self._represent(next_word, word)))
            previous_word = _NEUTRAL
        word_tokens.append(self._tokenize_word(previous_word, words[-1], ""))
        return " ".join(word_tokens)

    def _represent(self, next_word: str, word: str) -> str:
        """Return a placeholder for `next_word`, which comes after `word`: the tokens of `word` are the same with it."""
        if not word.endswith("."):  # only the rules for full stops look at the next word
            return _NEUTRAL
        if self._moses.islower(next_word[0]):
            return _LOWER
        return _DIGIT if next_word[0] in "0123456789" else _NEUTRAL

    def _tokenize_word_uncached(self, previous_word: str, word: str, next_word: str) -> str:
        """Return the tokens of a word. Each neighbour is a word of one token, or "" at an end of the line."""
        if self._moses.is_one_token(word):
            return word
        text = self._tokenize_text(f"{previous_word} {word} {next_word}".strip())
        # cut off the neighbours: "A end . a" -> "end ."
        start = len(previous_word) + 1 if previous_word else 0
        end = len(text) - len(next_word) - 1 if next_word else len(text)
        return text[start:end]

    def _tokenize_text(self, text: str) -> str:
        """Return Moses' tokens of a text with single spaces between."""
        tokens: str = self._moses.tokenize(
            text,
            aggressive_dash_splits=self._settings.split_hyphens,
            escape=self._settings.escape,
            return_str=True,
        )
        return " ".join(tokens.split())


def tokenize_file(path: Path, output: Path, language: str, settings: Tokenization) -> int:
    """Tokenize a file line by line, and return the number of lines."""
    tokenizer = Tokenizer(language, settings)
    with Progress.over_files([path], f"tokenize {path}") as progress, write_lines(output) as writer:
        for line in read_lines(path, progress):
            writer.write(tokenizer(line))
        return writer.line_count


# --- what a model reads and writes ------------------------------------------------------------------------------------

_UNSAFE_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""Control characters, on which a terminal would act. Models read those that Moses' tokenizer keeps."""

_UNKNOWN_LETTER = "Ꙗ"
"""A capital of Old Slavonic that replaces `[UNK]`, so that Moses takes it for a word."""
_SPACE_AFTER_ELISION = re.compile(rf"(?<=\w') (?={re.escape(UNKNOWN_WORD)})")
"""The space in l' [UNK], as detokenized French and Italian have it, although no word has one there."""


class RawText:
    """Raw text of one language, tokenized as the model's training text.

    What a model printed can be read again: `[UNK]` is one token, the unknown word, and not a word in brackets.
    """

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._language = language
        self._tokenizer = Tokenizer(language, settings)
        self._detokenizer = Detokenizer(language, settings)

    def tokenize(self, line: str) -> list[str]:
        """Return the tokens of a line."""
        if UNKNOWN_WORD not in line:
            return self._tokenizer(line).split()

        # hide [UNK] from Moses; l' [UNK] becomes l'[UNK], since other words have no space after an elision
        if self._language in ("fr", "it"):
            line = _SPACE_AFTER_ELISION.sub("", line)
        tokens = self._tokenizer(line.replace(UNKNOWN_WORD, _UNKNOWN_LETTER))
        return tokens.replace(_UNKNOWN_LETTER, UNKNOWN_WORD).split()

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens as a line without line breaks and control characters."""
        return self._detokenizer(_remove_control_characters(tokens))


class TokenText:
    """Tokenized text, with spaces between the tokens, in any language."""

    def tokenize(self, line: str) -> list[str]:
        """Split a line at white space of any kind."""
        return repair_line(line).split()

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the tokens with single spaces between, without control characters."""
        return " ".join(_remove_control_characters(tokens))


TextCodec = RawText | TokenText
"""Text of one language, to tokens (`tokenize`) and back (`detokenize`)."""


def _remove_control_characters(tokens: Sequence[str]) -> list[str]:
    """Return tokens without control characters. A token of nothing else is left out."""
    safe_tokens = [_UNSAFE_CHARACTER.sub("", token) for token in tokens]
    return [token for token in safe_tokens if token]
