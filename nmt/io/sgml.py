"""SGML of WMT's test sets: sentences between <seg> and </seg>."""

from __future__ import annotations

import html
import re

MAX_SGML_BYTES = 1 << 26
"""Maximum size of an SGML file, which is held in memory. Test sets have a megabyte."""

_PROLOG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:(?:<\?[^>]*>|<!--.*?-->|<![a-z][^>]*>)\s*)*", re.IGNORECASE | re.DOTALL
)
"""The text before the first tag of a test set: byte order mark, XML declaration, comments, document type."""
_FIRST_TAG = re.compile(
    rb"<(?:(?:srcset|refset|tstset|mteval)\b|doc\s[^>\n]*docid|seg\s*(?:id\s*=[^>\n]*)?>)", re.IGNORECASE
)
_TAG = re.compile(rb"<(/?)seg\b[^<>]*>", re.IGNORECASE)
"""<seg id="1"> or </seg>. The group is the slash."""
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
"""Exactly XML's entities, since HTML's rules would also change `&copy` in running text."""


def is_sgml(first_bytes: bytes) -> bool:
    """Return whether a file that begins with these bytes is SGML of a test set."""
    prolog = _PROLOG.match(first_bytes)
    return _FIRST_TAG.match(first_bytes, prolog.end() if prolog else 0) is not None


def parse_segments(sgml: bytes) -> list[bytes]:
    """Return the sentences of a file, without line breaks.

    Raises:
        ValueError: the file is too large, or its segments do not open and close in turn.
    """
    if len(sgml) > MAX_SGML_BYTES:
        raise ValueError(f"more than {MAX_SGML_BYTES:,} bytes of SGML")

    # [text before <seg>, "", text of the segment, "/", text after </seg>, "", ...]
    texts_and_slashes = _TAG.split(sgml)
    slashes = texts_and_slashes[1::2]
    segments = texts_and_slashes[2::4]
    if slashes != [b"", b"/"] * (len(slashes) // 2):
        raise ValueError("<seg> and </seg> do not alternate")
    return [_unescape(segment) for segment in segments]


def _unescape(segment: bytes) -> bytes:
    """Return the text of a segment on one line, with characters for XML's entities."""
    text = segment.decode("utf-8", errors="surrogateescape")
    text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text).replace("\n", " ").strip()
    return text.encode("utf-8", errors="surrogateescape")
