"""Text from anywhere, by its first bytes: plain, compressed (gzip, bzip2, xz, zstd), or SGML of WMT's test sets.

Names say nothing: people rename files, and servers send compressed ones under any name.
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import lzma
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from nmt.errors import UserError, naming

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_CHUNK = 1 << 17
_LARGEST_SGML = 1 << 26
"""Limit for the bytes of an SGML file, which is held in memory. Test sets have a megabyte."""
_LONGEST_PROLOG = 1 << 12

_MAGIC: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b\x08": lambda file: cast(IO[bytes], gzip.GzipFile(fileobj=file, mode="rb")),
    **{
        b"BZh%d%b" % (level, block): lambda file: cast(IO[bytes], bz2.BZ2File(file))
        for level in range(1, 10)
        for block in (b"1AY&SY", b"\x17rE8P\x90")
    },
    b"\xfd7zXZ\x00": lambda file: cast(IO[bytes], lzma.LZMAFile(file)),  # noqa: SIM115
    b"\x28\xb5\x2f\xfd": lambda file: cast(IO[bytes], zstd.ZstdFile(file)),
}
"""First bytes of compressed data, each with what decompresses it."""

_PROLOG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:(?:<\?[^>]*>|<!--.*?-->|<![a-z][^>]*>)\s*)*", re.IGNORECASE | re.DOTALL
)
_OPENING = re.compile(
    rb"<(?:(?:srcset|refset|tstset|mteval)\b|doc\s[^>\n]*docid|seg\s*(?:id\s*=[^>\n]*)?>)", re.IGNORECASE
)
_TAG = re.compile(rb"<(?:(doc)\b([^<>]*)|(seg)\b([^<>]*)|/seg\s*)>", re.IGNORECASE)
_NAME = re.compile(rb"""\b(?:doc)?id\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")


class Peeked(io.RawIOBase):
    """A stream whose first bytes can be looked at; reading returns what is there, as the stream itself does."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._head = b""

    def head(self, undecided: Callable[[bytes], bool]) -> bytes:
        """Return the first bytes: as many as come at once, and more as long as these are `undecided`."""
        while undecided(self._head) and (more := self.file.read(_CHUNK)):
            self._head += more
        return self._head

    def readable(self) -> bool:
        """Return True, as a stream that is read must."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read the next bytes, at most as many as `buffer` holds."""
        data = self._head or self.file.read(len(buffer))
        size = min(len(data), len(buffer))
        buffer[:size] = data[:size]
        self._head = data[size:]
        return size


def decompressed(file: IO[bytes]) -> Peeked:
    """Return a stream of a file's bytes, decompressed if its first bytes say that it is compressed."""
    peeked = Peeked(file)
    head = peeked.head(lambda head: any(magic.startswith(head) and magic != head for magic in _MAGIC))
    for magic, opened in _MAGIC.items():
        if head.startswith(magic):
            return Peeked(opened(cast(IO[bytes], io.BufferedReader(peeked, _CHUNK))))
    return peeked


@dataclass(frozen=True)
class Segment:
    """A sentence of SGML: its text on one line, and the names of its document and of itself."""

    document: bytes
    name: bytes
    text: bytes


@dataclass(frozen=True)
class Text:
    """The lines of a file as a stream; its segments if it is SGML; and whether the lines are the file's own bytes."""

    stream: IO[bytes]
    segments: list[Segment]
    is_plain: bool


def opened_text(file: IO[bytes], name: str | Path) -> Text:
    """Return the lines of a file that is open.

    Raises:
        UserError: SGML whose segments do not open and close in turn, or a zip archive.
    """
    with naming(name):
        text = decompressed(file)
        head = text.head(_undecided)
        if head.startswith(b"PK\x03\x04"):
            raise UserError(f"{name}: a zip archive, expected text; unpack it first")
        if not _OPENING.match(head, _prolog(head)):
            return Text(cast(IO[bytes], text), [], text.file is file)
        segments = list(_segments(io.BufferedReader(text).read(_LARGEST_SGML)))
    return Text(io.BytesIO(b"".join(segment.text + b"\n" for segment in segments)), segments, False)


def _prolog(head: bytes) -> int:
    match = _PROLOG.match(head)
    return match.end() if match else 0


def _undecided(head: bytes) -> bool:
    """Return whether more bytes are needed to tell SGML from other text. A line that is typed is enough."""
    return len(head) < _LONGEST_PROLOG and b"\n" not in head[_prolog(head) :]


def _segments(text: bytes) -> Iterator[Segment]:
    if len(text) == _LARGEST_SGML:
        raise ValueError(f"more than {_LARGEST_SGML:,} bytes of SGML")
    document = b""
    opened: re.Match[bytes] | None = None
    for tag in _TAG.finditer(text):
        if tag[1]:
            document = _name(tag[2])
        elif (tag[3] is None) == (opened is None):
            line = text.count(b"\n", 0, tag.start()) + 1
            raise ValueError(f"<seg> and </seg> do not take turns in line {line}")
        elif opened is None:
            opened = tag
        else:
            yield Segment(document, _name(opened[4]), _unescape(text[opened.end() : tag.start()]))
            opened = None
    if opened is not None:
        raise ValueError("the last <seg> has no </seg>")


def _name(attributes: bytes) -> bytes:
    match = _NAME.search(attributes)
    return next(filter(None, match.groups()), b"") if match else b""


def _unescape(segment: bytes) -> bytes:
    # exactly XML's entities: HTML's rules would also change `&copy` in running text
    text = segment.decode("utf-8", errors="surrogateescape")
    text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text).replace("\n", " ").strip()
    return text.encode("utf-8", errors="surrogateescape")


def zstd_writer(file: IO[bytes]) -> IO[bytes]:
    """Return a file that writes to an open one, compressed with zstd; it has checksums, and no name or time."""
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {parameter.compression_level: 3, parameter.checksum_flag: 1}
    packed = zstd.ZstdFile(file, "w", options=options)
    packed.write(b"")  # nothing written is a frame, too
    return cast(IO[bytes], packed)
