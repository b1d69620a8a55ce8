"""Settings of the text: languages and tokenization."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nmt.settings.base import Settings

Normalization = Literal["none", "unicode", "punctuation"]

MAX_VOCABULARY_SIZE = 2**31 - 3
"""Maximum number of words: ids have at most 32 bits, and two ids are EOS and [UNK]."""

_CODES = (
    "as bn ca cs de el en es et fi fr ga gu hi hu is it kn lt lv ml mni mr nl or pa pl pt ro ru sk sl sv ta tdt te "
    "yue zh"
)
LANGUAGES = tuple(_CODES.split())
"""Languages whose abbreviations Moses' tokenizer knows. It tokenizes other languages as English."""


def describe_unknown_language(code: str) -> str:
    """Return the line about a code that Moses' tokenizer has no rules for."""
    return f"{code} is not one of Moses' languages ({_CODES}): it is tokenized like English"


class Languages(Settings):
    """Codes of both languages, as in Moses' tokenizer."""

    source: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    """The language from which the models translate."""
    target: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    """The language into which the models translate."""

    @model_validator(mode="after")
    def _check_different(self) -> Languages:
        if self.source == self.target:
            raise ValueError("expected two languages")
        return self


class Tokenization(Settings):
    """Moses' tokenizer and its options, with Moses' defaults."""

    escape: bool = True
    """Write &apos; and the like for characters with a meaning for Moses' decoder, as tokenizer.perl does."""
    split_hyphens: bool = False
    """Split words at hyphens (tokenizer.perl -a). The authors' example does not."""
    normalization: Normalization = "none"
    """Normalization before tokenization (docs/own-text.md#apostrophes-quotes-and-accents), in training and in every use
    of a model. none: as in the papers. unicode: accents are composed (NFC), and most characters without width are
    removed. punctuation: also, apostrophes, quotation marks, hyphens and the ellipsis become ASCII."""
