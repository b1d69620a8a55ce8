"""Lines as people have them to tokens and back, whatever is in them; or lines that are tokens already."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.data.detokenization import Detokenizer
from nmt.data.tokenization import Tokenizer
from nmt.settings.text import Tokenization

# the tokenizer knows those of ASCII; the others could reach a terminal as words that were copied
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


class RawText:
    """One language's text, tokenized by the rules that a model was trained with; control characters are left out."""

    def __init__(self, language: str, settings: Tokenization) -> None:
        self._tokenize = Tokenizer(language, settings)
        self._detokenize = Detokenizer(language, settings)

    def tokens(self, line: str) -> list[str]:
        """Tokens of a line; half of a surrogate pair, which is no text, becomes U+FFFD."""
        return self._tokenize(_text(line)).split()

    def text(self, tokens: Sequence[str]) -> str:
        """A line without a line break in it."""
        return self._detokenize(tokens)


class TokenText:
    """Text that is tokens with spaces between, in any language; control characters are left out."""

    def tokens(self, line: str) -> list[str]:
        """What white space of any kind separates."""
        return _text(line).split()

    def text(self, tokens: Sequence[str]) -> str:
        """The tokens with single spaces between."""
        return " ".join(tokens)


Text = RawText | TokenText


def _text(line: str) -> str:
    return _CONTROL.sub("", line.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
