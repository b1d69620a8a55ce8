"""Text processors, which turn lines of raw or tokenized text into tokens and back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.data.detokenization import Detokenizer
from nmt.data.tokenization import Tokenizer
from nmt.settings.text import Tokenization

# the tokenizer knows those of ASCII; the others could reach a terminal as words that were copied
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


class RawText:
    """Raw text of one language, tokenized as the model's training text. Control characters are left out."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._tokenize = Tokenizer(language, settings)
        self._detokenize = Detokenizer(language, settings)

    def tokens(self, line: str) -> list[str]:
        """Return the tokens of a line. Half of a surrogate pair becomes U+FFFD."""
        return self._tokenize(_text(line)).split()

    def text(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens as a line without line breaks."""
        return self._detokenize(tokens)


class TokenText:
    """Tokenized text, with spaces between the tokens, in any language. Control characters are left out."""

    def tokens(self, line: str) -> list[str]:
        """Split a line at white space of any kind."""
        return _text(line).split()

    def text(self, tokens: Sequence[str]) -> str:
        """Return the tokens with single spaces between."""
        return " ".join(tokens)


Text = RawText | TokenText


def _text(line: str) -> str:
    return _CONTROL.sub("", line.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
