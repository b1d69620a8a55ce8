"""Lines of text from anywhere: UTF-8, split at "\\n" and nowhere else; whole files, or a pipe as it comes, in groups.

Python's `splitlines` also cuts at U+2028, U+0085 and others, which occur inside the lines of parallel text. Files may
be plain, compressed (gzip, bzip2, xz, zstd), or SGML of WMT's test sets. Their first bytes tell, since people rename
files, and servers send compressed ones under any name. A group of a stream is full after a number of lines or
characters; if the input pauses, it ends earlier, so that users who type get an answer to each line. In a group, bytes
that are not UTF-8 become U+FFFD; the number of lines never changes.
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import lzma
import os
import re
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any, cast

from nmt.errors import UserError, errors_as_user_error, os_errors_as_user_error
from nmt.io.files import atomic_path, is_replaceable
from nmt.io.progress import Progress

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZstdError = zstd.ZstdError

STANDARD_INPUT = Path("-")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""Extensions of names whose files are written compressed."""
MAX_LINE_BYTES = 1 << 24
"""Maximum number of bytes of a line, so that an endless line does not fill the memory."""
POLL_SECONDS = 0.05
"""Seconds without new bytes after which an input pauses."""
MAX_GROUP_CHARACTERS = 1 << 18
"""Number of characters after which a group of long lines ends."""

_CHUNK = 1 << 17
_REPORT_LINES = 1000


# --- lines ------------------------------------------------------------------------------------------------------------


class LineStream:
    """The lines of one input: as bytes, or as text in groups.

    `replaced_lines` counts lines of groups that were not UTF-8. `size` is the size of the whole input in bytes, if it
    is known. `bytes_done` counts the bytes of the returned lines; for a compressed file, those that were read.
    """

    def __init__(
        self,
        name: str | Path,
        read: Callable[[], bytes],
        pausing: int | None = None,
        size: int | None = None,
        position: Callable[[], int] | None = None,
    ) -> None:
        """Take the functions for reading.

        `read` returns some bytes, and none at the end. `pausing` is the descriptor of an input that may pause.
        `position` returns how much of `size` has been read, if that is not the number of bytes from `read`.
        """
        self.name, self.size = str(name), size
        self.lines = self.bytes_done = self.replaced_lines = self.first_replaced_line = 0
        self._read, self._pausing, self._position = read, pausing, position
        self._split = self._lines()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines as bytes, without line ends. A UserError names a line that is too long."""
        return (line for line in self._split if line is not None)

    def _lines(self) -> Iterator[bytes | None]:
        """Yield the lines, and None before waiting for an input that pauses."""
        rest = b""
        while True:
            if self._pausing is not None and not select.select([self._pausing], [], [], POLL_SECONDS)[0]:
                yield None
            position = f"{self.name}, after line {self.lines}" if self.lines else self.name
            with errors_as_user_error(position, "make it again", ZstdError):
                chunk = self._read()
                self.bytes_done = self._position() if self._position else self.bytes_done
            *lines, rest = (rest + chunk).split(b"\n") if chunk else ([rest, b""] if rest else [b""])
            for line in lines:
                self.lines += 1
                self.bytes_done += 0 if self._position else len(line) + bool(chunk)
                yield line
            if len(rest) > MAX_LINE_BYTES:
                raise UserError(
                    f"{self.name}, line {self.lines + 1} is longer than {MAX_LINE_BYTES:,} bytes: expected text"
                )
            if not chunk:
                return

    def read_groups(self, lines: int) -> Iterator[list[str]]:
        """Yield groups of at most `lines` lines. No group is empty."""
        group: list[str] = []
        characters = 0
        for line in self._split:
            if line is not None:
                group.append(self._decoded(line))
                characters += len(group[-1])
            if group and (line is None or len(group) == lines or characters >= MAX_GROUP_CHARACTERS):
                yield group
                group, characters = [], 0
        if group:
            yield group

    def take_lines(self, lines: int) -> list[str]:
        """Wait for the next `lines` lines and return them; there are fewer only at the end."""
        return [self._decoded(line) for line in islice(self, lines)]

    def _decoded(self, line: bytes) -> str:
        try:
            return self.decode_line(line, "strict")
        except UnicodeDecodeError:
            self.replaced_lines += 1
            self.first_replaced_line = self.first_replaced_line or self.lines
            return self.decode_line(line, "replace")

    def decode_line(self, line: bytes, errors: str) -> str:
        """Return the text of the line that came last.

        Windows' carriage return at its end is no part of it, nor is a byte order mark at the beginning of the input.
        """
        line = line.removesuffix(b"\r")
        if self.lines == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        return line.decode("utf-8", errors)


@contextmanager
def open_lines(path: Path) -> Iterator[LineStream]:
    """Open the lines of a file, or of standard input for `-`, in any format."""
    name = "standard input" if path == STANDARD_INPUT else str(path)
    with os_errors_as_user_error(path):
        place = os.dup(sys.stdin.fileno() if sys.stdin else -1) if path == STANDARD_INPUT else path
        file = open(place, "rb")  # noqa: SIM115
    with file:
        size = _size(file.fileno())
        text = open_text(file, name)
        if path.suffix == ".zst" and text.is_plain:  # one of ours that was cut or overwritten is no text
            raise UserError(f"{path}: no zstd stream; make it again")
        pausing = file.fileno() if size is None and text.is_plain else None
        position = None if text.is_plain or size is None else file.tell
        yield LineStream(name, lambda: text.stream.read1(_CHUNK), pausing, size, position)


def _size(descriptor: int) -> int | None:
    """Return the number of remaining bytes of an open file; None for anything else."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return None
    return max(0, status.st_size - os.lseek(descriptor, 0, os.SEEK_CUR))


def read_lines(path: str | Path, progress: Progress | None = None, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a file, as of `LineStream.decode_line`; a `UserError` names file (and line) if it is damaged.

    `progress` counts the bytes read from the disk. `errors` says what becomes of bytes that are not UTF-8, as for
    Python's `open`.
    """
    with open_lines(Path(path)) as stream:
        done = 0
        for line in stream:
            if progress is not None and stream.size is not None and stream.lines % _REPORT_LINES == 0:
                progress.update(stream.bytes_done - done)
                done = stream.bytes_done
            try:
                text = stream.decode_line(line, errors)
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{path}, line {stream.lines}: not UTF-8 ({error.reason}); make it again, or convert it (iconv)"
                ) from None
            yield text
        if progress is not None and stream.size is not None:
            progress.update(stream.size - done)


def read_pairs(
    source: str | Path, target: str | Path, progress: Progress | None = None, errors: str = "strict"
) -> Iterator[tuple[str, str]]:
    """Yield the lines of both sides together. A `UserError` names files and lines if one side ends first."""
    return pair_lines(
        source, target, read_lines(source, progress, errors), read_lines(target, progress, errors)
    )


def pair_lines(
    source: str | Path, target: str | Path, source_lines: Iterable[str], target_lines: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield the lines of both sides together. A `UserError` names files and lines if one side ends first."""
    for pairs, (source_line, target_line) in enumerate(zip_longest(source_lines, target_lines)):
        if source_line is None or target_line is None:
            raise _uneven(source, target, pairs) if target_line is None else _uneven(target, source, pairs)
        yield source_line, target_line


def _uneven(longer: str | Path, shorter: str | Path, pairs: int) -> UserError:
    return UserError(f"{shorter} ends after {pairs} lines, {longer} does not: both sides need equally many")


def read_pair_groups(sources: LineStream, targets: LineStream, lines: int) -> Iterator[list[tuple[str, str]]]:
    """Yield groups of parallel lines of two inputs. Raise a UserError if one input ends first."""
    pairs = 0
    for group in sources.read_groups(lines):
        others = targets.take_lines(len(group))
        pairs += len(others)
        if len(others) < len(group):
            raise _uneven(sources.name, targets.name, pairs)
        yield list(zip(group, others, strict=True))
    if targets.take_lines(1):
        raise _uneven(targets.name, sources.name, pairs)


class LineWriter:
    """Writes lines to an open binary file."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self.lines = 0

    def write(self, line: str) -> None:
        """Write `line` and a "\\n"; a line that holds one itself would put both sides out of step."""
        if "\n" in line:
            raise ValueError(f"{self._path}, line {self.lines + 1}: holds a line break: {line[:60]!r}")
        self._file.write(line.encode("utf-8") + b"\n")
        self.lines += 1

    def write_bytes(self, line: bytes) -> None:
        """Write the bytes of a line, which need not be UTF-8, and a "\\n"."""
        self._file.write(line + b"\n")
        self.lines += 1

    def flush(self) -> None:
        """Flush the lines written so far."""
        self._file.flush()


@contextmanager
def line_writer(path: Path, append: bool = False) -> Iterator[LineWriter]:
    """Open `path` itself for writing lines, compressed by its extension, for callers that rename it later.

    Lines appended to a compressed file are a separate compressed stream. Readers read both streams as one.
    """
    with path.open("ab" if append else "wb") as raw, _compressed(raw, path.suffix) as file:
        yield LineWriter(path, file)


@contextmanager
def write_lines(path: str | Path) -> Iterator[LineWriter]:
    """Open a file for writing lines. It appears if the block ends without an error. Equal lines give equal bytes.

    A pipe, a device or standard output gets the lines at once.
    """
    at_once = not is_replaceable(Path(path))
    with atomic_path(path) as temporary, line_writer(temporary, append=at_once) as writer:
        yield writer


def name_without_compression(path: Path) -> str:
    """Return the name of a file without the extension of compressed ones: "a.jsonl" for a.jsonl.gz and a.jsonl."""
    return path.stem if path.suffix in COMPRESSED else path.name


@contextmanager
def _compressed(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        # no name and no time inside: the bytes depend on the text only
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
            yield cast(IO[bytes], file)
    elif suffix == ".bz2":
        with bz2.BZ2File(raw, "wb") as packed:
            yield packed
    elif suffix == ".xz":
        with lzma.LZMAFile(raw, "wb") as archive:
            yield archive
    elif suffix == ".zst":
        with (
            open_zstd_writer(raw) as stream,
            io.BufferedWriter(cast(io.RawIOBase, stream), _CHUNK) as buffered,
        ):
            yield cast(IO[bytes], buffered)
    else:
        yield raw


# --- formats ----------------------------------------------------------------------------------------------------------

_LARGEST_SGML = 1 << 26
"""Limit for the bytes of an SGML file, which is held in memory. Test sets have a megabyte."""

_MAGIC: dict[bytes, Callable[[Any], object]] = {
    b"\x1f\x8b\x08": gzip.open,
    **{
        b"BZh%d%b" % (level, block): bz2.BZ2File
        for level in range(1, 10)
        for block in (b"1AY&SY", b"\x17rE8P\x90")
    },
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
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


def decompress(file: io.BufferedReader[Any]) -> io.BufferedReader[Any]:
    """Return a stream of a file's bytes, decompressed if its first bytes say that it is compressed."""
    head = file.peek()
    opened = next((opened for magic, opened in _MAGIC.items() if head.startswith(magic)), None)
    return cast("io.BufferedReader[Any]", opened(file)) if opened else file


@dataclass(frozen=True)
class Segment:
    """A sentence of SGML: its text on one line, and the names of its document and of itself."""

    document: bytes
    name: bytes
    text: bytes


@dataclass(frozen=True)
class OpenedText:
    """The lines of a file as a stream; its segments if it is SGML; and whether the lines are the file's own bytes."""

    stream: io.BufferedReader[Any] | io.BytesIO
    segments: list[Segment]
    is_plain: bool


def open_text(file: io.BufferedReader[Any], name: str | Path) -> OpenedText:
    """Return the lines of a file that is open.

    Raises:
        UserError: SGML whose segments do not open and close in turn, or a zip archive.
    """
    with errors_as_user_error(name, "make it again", ZstdError):
        text = decompress(file)
        head = text.peek(1)  # or more: as many as come at once
        if head.startswith(b"PK\x03\x04"):
            raise UserError(f"{name}: a zip archive, expected text; unpack it first")
        prolog = _PROLOG.match(head)
        if not _OPENING.match(head, prolog.end() if prolog else 0):
            return OpenedText(text, [], text is file)
        segments = list(_segments(text.read(_LARGEST_SGML)))
    return OpenedText(io.BytesIO(b"".join(segment.text + b"\n" for segment in segments)), segments, False)


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


def open_zstd_writer(file: IO[bytes]) -> IO[bytes]:
    """Return a file that writes to an open one, compressed with zstd; it has checksums, and no name or time."""
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {parameter.compression_level: 3, parameter.checksum_flag: 1}
    packed = zstd.ZstdFile(file, "w", options=options)
    packed.write(b"")  # nothing written is a frame, too
    return cast(IO[bytes], packed)
