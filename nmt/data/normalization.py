"""Normalization of raw text before it is tokenized: in training, `nmt translate`, Python and the browser's page alike.

Keyboards and programs write one letter in several ways: é as one character or as e and an accent, the apostrophe as '
or ’. To a model of words these are different words. The papers' experiments leave the text as it is.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from typing import Any

from nmt.settings.text import Normalization

_CONTROL = "\x7f-\x84\x86-\x9f"
"""Control characters that tokenizer.perl leaves. U+0085 is white space to Python."""
_INVISIBLE = (
    "\u00ad\u034f\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\u3164\uffa0\U000e0000-\U000e01ef"
)
"""Soft hyphen, zero-width no-break space, word joiner, marks of direction, variants of characters, annotations, Hangul
fillers, tags."""
_ARABIC = "\u0600-\u08ff"
_MONGOLIAN = "\u1800-\u18af"
_INDIC = "\u0900-\u0dff\u1000-\u109f"
"""Scripts of India, Sri Lanka and Myanmar, which also end words in a joiner."""
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Scripts without spaces, where the zero-width space is the border of words: Thai, Lao, Tibetan, Burmese, Khmer."""
REMOVED = (
    f"(?<![{_UNSPACED}])\u200b|\u200b(?![{_UNSPACED}])|[{_CONTROL}{_INVISIBLE}]"
    f"|(?<![{_MONGOLIAN}])[\u180b-\u180f]"
    f"|(?<![{_ARABIC}{_INDIC}])[\u200c\u200d]|(?<=[{_ARABIC}])[\u200c\u200d](?![{_ARABIC}])"
)
"""Pattern of the characters without width that are left out, in Python and in JavaScript. Zero-width joiners and
non-joiners stay in scripts that spell with them, zero-width spaces in scripts without spaces."""
_JOINERS = "\u180e\u200b\u200c\u200d"

PUNCTUATION = {
    **dict.fromkeys("‘’‚‛‹›`´ʹʻʼ′＇", "'"),
    **dict.fromkeys("“”„‟«»″〝〞〟＂", '"'),
    **dict.fromkeys("‐‑", "-"),
    "…": "...",
}
"""Apostrophes, quotation marks, hyphens and the ellipsis as people and programs write them, and as typewriters do."""

_REMOVED = re.compile(REMOVED)
_PUNCTUATION_MARK = re.compile(f"[{''.join(PUNCTUATION)}]")


def normalize(line: str, form: Normalization) -> str:
    """Return a line in one of the forms of text that a model can be trained on.

    Example: in the form "punctuation", e + U+0301 becomes é, and l’Au<soft hyphen>be becomes l'Aube.
    """
    if form == "none":
        return line
    # Most lines are ASCII. In these, only U+007F would change, so this step is skipped.
    if not line.isascii() or "\x7f" in line:
        line = unicodedata.normalize("NFC", _REMOVED.sub("", line))
    if form == "punctuation":
        line = _PUNCTUATION_MARK.sub(lambda match: PUNCTUATION[match[0]], line)
    return line


def list_letters_unknown_to_moses(form: Normalization) -> str:
    """Return the characters of words that Moses takes for punctuation: joiners, and marks such as accents.

    NFC leaves such marks in the text where there is no composed letter, for example the tone marks of Thai.
    """
    # Text that is not normalized, as that of the papers, is tokenized by Moses' rules alone.
    if form == "none":
        return ""
    characters = map(chr, range(sys.maxunicode + 1))
    return _JOINERS + "".join(char for char in characters if unicodedata.category(char) in ("Mn", "Mc"))


def make_browser_rules(form: Normalization) -> dict[str, Any]:
    """Return the rules of this normalization for text.js."""
    return {
        "composed": form != "none",
        "removed": REMOVED if form != "none" else None,
        "replaced": PUNCTUATION if form == "punctuation" else {},
    }
