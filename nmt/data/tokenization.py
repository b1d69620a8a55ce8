"""Moses' tokenizer (paper, Sec. 4.1) in its port sacremoses, with a cache of words.

Moses' rules depend on a word (text between white space) and little else: whether it is the first or last word of the
line, and, after a full stop, whether the next word begins with a lower-case letter or a digit. So a word in one such
context always gives the same tokens, which are cached. Only apostrophes on both sides of a space depend on more; lines
with them are tokenized as a whole.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from nmt.data.moses import sacremoses
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, write_lines
from nmt.settings.text import Tokenization

# tokenizer.perl deletes these after white space has become single spaces. Perl's \s leaves \x1c to \x1f alone, Python's
# takes them for spaces.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")

_FACING_APOSTROPHES = re.compile(r"'\s+'")

_NEUTRAL, _LOWER, _DIGIT = "A", "a", "1"
"""Representatives for all neighbours of the same kind: each is one token and does not change other tokens."""

_REMEMBERED = 1 << 19
"""Maximum number of words in the cache (about 100 MB). The text of a shard has fewer distinct words."""


class _MosesTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
    """A faster sacremoses with equal tokens. sacremoses itself builds sets of 100,000 characters at every full stop."""

    def __init__(self, language: str) -> None:
        super().__init__(lang=language)
        self._lower = frozenset(self.IsLower)
        self._alpha = frozenset(self.IsAlpha)
        self._alnum = frozenset(self.IsAlnum)

    def is_one_token(self, word: str) -> bool:
        """Return whether no rule can apply: only letters and digits, and no placeholder for several full stops."""
        return self._alnum.issuperset(word) and "DOTMULTI" not in word

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)


@lru_cache
def _moses(language: str) -> _MosesTokenizer:
    return _MosesTokenizer(language)


class Tokenizer:
    """Tokenizes lines of one language. One object is made for all lines."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._moses = _moses(language)
        self._settings = settings
        # words inside a line that end in no full stop, the bulk of a text: found without a call
        self._inside: dict[str, str] = {}
        self._between = lru_cache(maxsize=_REMEMBERED // 4)(self._between_neighbours)

    def __call__(self, line: str) -> str:
        """Return the tokens of `line` with single spaces between; an empty text for a line of white space."""
        if _CONTROL.search(line):
            line = _CONTROL.sub("", line)
        words = line.split()
        if len(words) < 2 or _FACING_APOSTROPHES.search(line):
            return self._whole(" ".join(words))
        tokens = [self._inside.get(word) for word in words]
        tokens[0] = self._between("", words[0], self._neighbour(words[0], words[1]))
        tokens[-1] = self._between(_NEUTRAL, words[-1], "")
        if None in tokens:
            self._fill(tokens, words)
        return " ".join(tokens)  # type: ignore[arg-type]

    def _fill(self, tokens: list[str | None], words: list[str]) -> None:
        """Fill in the tokens of words that are not in the cache or end with a full stop."""
        for place, found in enumerate(tokens):
            if found is None:
                word = words[place]
                neighbour = self._neighbour(word, words[place + 1])
                tokens[place] = found = self._between(_NEUTRAL, word, neighbour)
                if not word.endswith("."):
                    self._remember(word, found)

    def _remember(self, word: str, tokens: str) -> None:
        if len(self._inside) >= _REMEMBERED:
            self._inside.clear()
        self._inside[word] = tokens

    def _neighbour(self, word: str, after: str) -> str:
        """Return a representative for the word `after`, for tokenizing `word`."""
        if not word.endswith("."):
            return _NEUTRAL
        if self._moses.islower(after[0]):
            return _LOWER
        return _DIGIT if after[0] in "0123456789" else _NEUTRAL

    def _between_neighbours(self, before: str, word: str, after: str) -> str:
        """Return the tokens of `word` between neighbours, which are one token each, or None at the end of a line."""
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
        return writer.lines
