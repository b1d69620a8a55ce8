"""SGML of WMT's test sets: sentences between <seg> and </seg>, in documents."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

MAX_SGML_BYTES = 1 << 26
"""Maximum size of an SGML file, which is held in memory. Test sets have a megabyte."""

_PROLOG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:(?:<\?[^>]*>|<!--.*?-->|<![a-z][^>]*>)\s*)*", re.IGNORECASE | re.DOTALL
)
"""The text before the first tag of a test set: byte order mark, XML declaration, comments, document type."""
_FIRST_TAG = re.compile(
    rb"<(?:(?:srcset|refset|tstset|mteval)\b|doc\s[^>\n]*docid|seg\s*(?:id\s*=[^>\n]*)?>)", re.IGNORECASE
)
_TAG = re.compile(
    rb"<(?:doc\b(?P<doc_attributes>[^<>]*)|seg\b(?P<seg_attributes>[^<>]*)|/seg\s*)>", re.IGNORECASE
)
_NAME = re.compile(
    rb"""\b(?:doc)?id\s*=\s*(?:"(?P<double_quoted>[^"]*)"|'(?P<single_quoted>[^']*)'|(?P<unquoted>[^\s>]+))""",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
"""Exactly XML's entities, since HTML's rules would also change `&copy` in running text."""


@dataclass(frozen=True)
class Segment:
    """A sentence of SGML: its text on one line, and the names of its document and of itself."""

    document: bytes
    name: bytes
    text: bytes


def is_sgml(first_bytes: bytes) -> bool:
    """Return whether a file that begins with these bytes is SGML of a test set."""
    prolog = _PROLOG.match(first_bytes)
    return _FIRST_TAG.match(first_bytes, prolog.end() if prolog else 0) is not None


def parse_segments(sgml: bytes) -> list[Segment]:
    """Return the sentences of a file.

    Raises:
        ValueError: the file is too large, or its segments do not open and close in turn.
    """
    if len(sgml) > MAX_SGML_BYTES:
        raise ValueError(f"more than {MAX_SGML_BYTES:,} bytes of SGML")

    # a segment is the text between <seg> and the next </seg>
    segments = []
    document_name = b""
    opening_tag: re.Match[bytes] | None = None
    for tag in _TAG.finditer(sgml):
        is_opening = tag["seg_attributes"] is not None
        if tag["doc_attributes"] is not None:
            document_name = _parse_name(tag["doc_attributes"])
        elif is_opening and opening_tag is None:
            opening_tag = tag
        elif not is_opening and opening_tag is not None:
            name = _parse_name(opening_tag["seg_attributes"])
            text = _unescape(sgml[opening_tag.end() : tag.start()])
            segments.append(Segment(document_name, name, text))
            opening_tag = None
        else:
            line_number = sgml.count(b"\n", 0, tag.start()) + 1
            raise ValueError(f"<seg> and </seg> do not take turns in line {line_number}")
    if opening_tag is not None:
        raise ValueError("the last <seg> has no </seg>")
    return segments


def _parse_name(attributes: bytes) -> bytes:
    """Return the id of a document or segment, or b"" if it has none. Example: b' docid="news-1"' -> b"news-1"."""
    match = _NAME.search(attributes)
    if match is None:
        return b""
    return match["double_quoted"] or match["single_quoted"] or match["unquoted"] or b""


def _unescape(segment: bytes) -> bytes:
    """Return the text of a segment on one line, with characters for XML's entities."""
    text = segment.decode("utf-8", errors="surrogateescape")
    text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text).replace("\n", " ").strip()
    return text.encode("utf-8", errors="surrogateescape")
