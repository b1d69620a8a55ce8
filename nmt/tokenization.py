"""Moses' tokenizer (paper, Sec. 4.1) through its port sacremoses."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import sacremoses

from nmt.progress import Progress
from nmt.settings import Tokenization
from nmt.text import read_lines, write_lines

# Perl's \s leaves these four alone and tokenizer.perl then deletes them; Python's \s takes them for spaces
_SEPARATORS = dict.fromkeys(range(0x1C, 0x20))


class _MosesTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
    """The same tokens, faster: sacremoses builds sets of some 100,000 characters anew for every full stop."""

    def __init__(self, language: str) -> None:
        super().__init__(lang=language)
        self._lower = frozenset(self.IsLower)
        self._alpha = frozenset(self.IsAlpha)

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)


@lru_cache
def _moses(language: str) -> _MosesTokenizer:
    return _MosesTokenizer(language)


class Tokenizer:
    """Tokenizes lines of one language; made once and used for all of them."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._moses = _moses(language)
        self._settings = settings

    def __call__(self, line: str) -> str:
        """Tokens of `line` with single spaces between; nothing for a line of white space."""
        text: str = self._moses.tokenize(
            line.translate(_SEPARATORS),
            aggressive_dash_splits=self._settings.split_hyphens,
            escape=self._settings.escape,
            return_str=True,
        )
        return " ".join(text.split())


def tokenize_file(path: Path, output: Path, language: str, settings: Tokenization) -> int:
    """Tokenize a file line by line; returns the number of lines."""
    tokenizer = Tokenizer(language, settings)
    with Progress.over_files([path], f"tokenize {path}") as progress, write_lines(output) as writer:
        for line in read_lines(path, progress):
            writer.write(tokenizer(line))
        return writer.lines
