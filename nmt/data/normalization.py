"""Repair and normalization of raw text before it is tokenized: in training, `nmt translate`, Python and the browser's
page alike.

Keyboards and programs write one letter in several ways: é as one character or as e and an accent, the apostrophe as '
or ’. To a model of words these are different words. The papers' experiments leave the text as it is.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from nmt.data.characters import EMOJI, JOINERS, compile_pattern, format_for_browser
from nmt.settings.text import Normalization

_DELETED_CHARACTERS = re.compile(r"\A\ufeff+|\r+\Z|[\x00-\x08\x0e-\x1f]")
"""Byte order marks at the beginning, carriage returns at the end, and the control characters that tokenizer.perl
deletes. Python takes the last four for spaces, Perl does not."""
_LINE_SEPARATORS = re.compile("[\x0b\x0c\r\x85\u2028\u2029]")
"""Characters at which str.splitlines, editors and many programs end a line."""
_MALFORMED = re.compile("[\x00-\x08\x0b-\x1f\x85\u2028\u2029\ufeff\ud800-\udfff]")
"""All of these, and bytes that are not UTF-8. Most lines have none."""

_HALF_CHARACTER = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs that stand for no byte."""


def repair_line(line: str) -> str:
    """Return a line without malformed characters, as every model reads it.

    Bytes that are not UTF-8, decoded with `surrogateescape`, and other halves of surrogate pairs become U+FFFD.
    """
    if not _MALFORMED.search(line):
        return line

    # back to the bytes of the file, then to text with U+FFFD for the bytes that are not UTF-8
    line = _HALF_CHARACTER.sub("\ufffd", line).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _LINE_SEPARATORS.sub(" ", _DELETED_CHARACTERS.sub("", line))


# --- normalization ----------------------------------------------------------------------------------------------------

_CLASSES = {
    "<INVISIBLE>": r"\x7f-\x84\x86-\x9f\ufff9-\ufffb\p{Default_Ignorable_Code_Point}--[\u180b-\u180f\u200b-\u200d]",
    "<MONGOLIAN>": r"\p{Script=Mongolian}",
    "<UNSPACED>": r"\p{Line_Break=Complex_Context}\p{Script=Tibetan}",
    "<INDIC>": r"\P{Indic_Syllabic_Category=Other}&&[\p{L}\p{M}]",
    "<RIGHT_TO_LEFT>": r"\p{Bidi_Class=AL}\p{Bidi_Class=R}",
    "<MARK>": r"\p{Mn}",
}
"""Control characters (U+0085 is white space) and what Unicode says a program may ignore, such as the soft hyphen, marks
of direction and variants of characters. Scripts that write with some of these: see `_REMOVED`."""
_REMOVED = (
    rf"({EMOJI})|[<INVISIBLE>]"
    r"|(?<![<MONGOLIAN>])[\u180b-\u180f]"
    r"|(?<![<UNSPACED>])\u200b|\u200b(?![<UNSPACED>])"
    r"|(?<![<INDIC>])(?:(?<![<RIGHT_TO_LEFT><MARK>])[\u200c\u200d]|[\u200c\u200d](?![<RIGHT_TO_LEFT>]))"
)
"""Pattern of the characters without width that are left out, and of emoji, which are kept as group 1. Zero-width
joiners and non-joiners stay in Indian scripts and between letters of scripts like Arabic, zero-width spaces in scripts
without spaces, where they are the borders of words."""
PUNCTUATION = {
    **dict.fromkeys("‘’‚‛‹›`´′＇׳", "'"),
    **dict.fromkeys("“”„‟«»″〝〞〟＂״", '"'),
    **dict.fromkeys("‐‑", "-"),
    "…": "...",
}
"""Apostrophes, quotation marks, hyphens and the ellipsis as people and programs write them, and as typewriters do."""
APOSTROPHE_LETTER = r"(?<=[\p{L}\p{M}])[ʹʻʼ](?=[\p{L}\p{M}])"
"""Pattern of letters that look like apostrophes, within a word. At its borders they differ from quotation marks."""


_REMOVED_PATTERN = compile_pattern(_REMOVED, _CLASSES)
_REMOVED_CHARACTER = compile_pattern(rf"[[<INVISIBLE>]{JOINERS}\u180b-\u180f]", _CLASSES)
_APOSTROPHE_LETTER_PATTERN = compile_pattern(APOSTROPHE_LETTER)
_PUNCTUATION_MARK = re.compile(f"[{''.join(PUNCTUATION)}]")


def normalize(line: str, form: Normalization) -> str:
    """Return a line in one of the forms of text that a model can be trained on.

    Example: in the form "punctuation", e + U+0301 becomes é, and l’Au<soft hyphen>be becomes l'Aube.
    """
    if form == "none":
        return line
    # Most lines are ASCII. In these, only U+007F would change, so this step is skipped.
    if not line.isascii() or "\x7f" in line:
        if _REMOVED_CHARACTER.search(line):
            line = _REMOVED_PATTERN.sub(r"\1", line)
        line = unicodedata.normalize("NFC", line)
    if form == "punctuation":
        if not line.isascii():
            line = _APOSTROPHE_LETTER_PATTERN.sub("'", line)
        line = _PUNCTUATION_MARK.sub(lambda match: PUNCTUATION[match[0]], line)
    return line


def make_browser_rules(form: Normalization) -> dict[str, Any]:
    """Return the rules of this normalization for text.js."""
    return {
        "composed": form != "none",
        "removed": format_for_browser(_REMOVED, _CLASSES) if form != "none" else None,
        "apostrophe": APOSTROPHE_LETTER if form == "punctuation" else None,
        "replaced": PUNCTUATION if form == "punctuation" else {},
    }
