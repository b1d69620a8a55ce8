"""Lines of text from anywhere: UTF-8, split at "\\n" and nowhere else.

Python's `splitlines` also splits at U+2028, U+0085 and others, which occur inside the lines of parallel text. Files may
be plain, compressed, or SGML of WMT's test sets; their first bytes tell.

A file is read line by line. A pipe is read in groups of lines: a group is full after a number of lines or characters.
If the input pauses, the group ends earlier, so that users who type get an answer to each line. In a group, bytes that
are not UTF-8 become U+FFFD; the number of lines never changes.
"""

from __future__ import annotations

import io
import os
import re
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any, TypeVar

from nmt.errors import UserError, errors_as_user_error, os_errors_as_user_error
from nmt.io.compression import ZstdError, compress, decompress
from nmt.io.files import atomic_path
from nmt.io.progress import Progress
from nmt.io.sgml import MAX_SGML_BYTES, is_sgml, parse_segments

MAX_LINE_BYTES = 1 << 24
"""Maximum number of bytes of a line, so that an endless line does not fill the memory."""
POLL_SECONDS = 0.05
"""Seconds without new bytes after which an input pauses."""
MAX_GROUP_CHARACTERS = 1 << 18
"""Number of characters after which a group of long lines ends."""

_CHUNK_BYTES = 1 << 17
_ARCHIVE = re.compile(rb"PK\x03\x04|.{257}ustar(  )?\x00", re.DOTALL)
"""The first bytes of a zip archive, or of a tar archive: NUL follows "ustar", or two spaces and NUL."""

Line = TypeVar("Line")


# --- reading ----------------------------------------------------------------------------------------------------------


class LineStream:
    """The lines of one input, as bytes or as groups of text.

    Attributes:
        name: the input, for messages.
        size: the size of the file in bytes, or None for a pipe.
        bytes_done: the bytes that have been read of the file.
        line_count: lines that have been read.
        invalid_line_count: the number of lines with bytes that are not UTF-8, among those read in groups.
        first_invalid_line: the number, from 1, of the first such line.
    """

    def __init__(
        self,
        name: str | Path,
        read: Callable[[], bytes],
        poll_descriptor: int | None = None,
        size: int | None = None,
        get_position: Callable[[], int] | None = None,
    ) -> None:
        """Take the functions for reading.

        Args:
            name: the input, for messages.
            read: returns the next bytes, or b"" at the end.
            poll_descriptor: the file descriptor of an input that may have no bytes for a while, such as a pipe.
            size: the size in bytes if the input is a file.
            get_position: returns the position in this file.
        """
        self.name, self.size = str(name), size
        self.line_count = self.bytes_done = self.invalid_line_count = self.first_invalid_line = 0
        self._read, self._poll_descriptor, self._get_position = read, poll_descriptor, get_position
        self._lines = self._read_lines()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines as bytes, without line ends. Raises a UserError at a line that is too long."""
        return (line for line in self._lines if line is not None)

    def _read_lines(self) -> Iterator[bytes | None]:
        """Yield lines without their ends, and None whenever the input pauses.

        Example: the chunks b"a\\nb" and b"c\\n" give b"a", then b"bc".
        """
        unfinished_line = b""  # the bytes read after the last newline
        while True:
            if self._poll_descriptor is not None:
                readable_inputs, _, _ = select.select([self._poll_descriptor], [], [], POLL_SECONDS)
                if not readable_inputs:
                    yield None

            location = f"{self.name}, after line {self.line_count}" if self.line_count else self.name
            with errors_as_user_error(location, ZstdError):
                chunk = self._read()
            if self._get_position:
                self.bytes_done = self._get_position()

            # cut the chunk into lines; the end of the input ends the last one
            lines: list[bytes] = []
            if chunk:
                lines = (unfinished_line + chunk).split(b"\n")
                unfinished_line = lines.pop()
            elif unfinished_line:
                lines, unfinished_line = [unfinished_line], b""

            for line in lines:
                self.line_count += 1
                yield line

            if len(unfinished_line) > MAX_LINE_BYTES:
                raise UserError(
                    f"{self.name}, line {self.line_count + 1} is longer than {MAX_LINE_BYTES:,} bytes: expected text"
                )
            if not chunk:
                return

    def read_groups(self, max_lines: int) -> Iterator[list[str]]:
        """Yield groups of at most `max_lines` lines. No group is empty."""
        group: list[str] = []
        character_count = 0
        for line in self._lines:  # None if the input pauses
            if line is not None:
                text = self._decode_or_replace(line)
                group.append(text)
                character_count += len(text)
            is_full = len(group) == max_lines or character_count >= MAX_GROUP_CHARACTERS
            if group and (line is None or is_full):
                yield group
                group, character_count = [], 0
        if group:
            yield group

    def take_lines(self, count: int) -> list[str]:
        """Wait for the next lines and return them. There are fewer than `count` only at the end."""
        return [self._decode_or_replace(line) for line in islice(self, count)]

    def _decode_or_replace(self, line: bytes) -> str:
        """Return the text of the current line. Bytes that are not UTF-8 become U+FFFD, and the line is counted."""
        try:
            return self.decode_line(line, "strict")
        except UnicodeDecodeError:
            self.invalid_line_count += 1
            self.first_invalid_line = self.first_invalid_line or self.line_count
            return self.decode_line(line, "replace")

    def decode_line(self, line: bytes, errors: str) -> str:
        """Return the text of the current line.

        The carriage return that Windows puts at its end, and a byte order mark before the first line, are left out.
        """
        line = line.removesuffix(b"\r")
        if self.line_count == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        return line.decode("utf-8", errors)


def open_text(file: io.BufferedReader[Any], name: str | Path) -> io.BufferedReader[Any] | io.BytesIO:
    """Return a stream of the lines of an open file in any format. `name` is for messages.

    The stream is the file itself unless the file is compressed or SGML.

    Raises:
        UserError: SGML whose segments do not open and close in turn, or an archive.
    """
    with errors_as_user_error(name, ZstdError):
        stream = decompress(file)
        # `peek` returns as soon as one byte is there. So a person at a terminal need not type a second line first.
        first_bytes = stream.peek(1)
        if _ARCHIVE.match(first_bytes):
            raise UserError(
                f"{name}: an archive or spreadsheet, expected text; unpack or export it first, or in `corpora` name "
                "the text in an archive as `member`"
            )
        if not is_sgml(first_bytes):
            return stream
        segments = parse_segments(stream.read(MAX_SGML_BYTES + 1))
    return io.BytesIO(b"".join(segment + b"\n" for segment in segments))


@contextmanager
def open_lines(path: Path) -> Iterator[LineStream]:
    """Open the lines of a file, or of standard input for `-`, in any format."""
    is_standard_input = str(path) == "-"
    name = "standard input" if is_standard_input else str(path)
    with os_errors_as_user_error(path):
        # If standard input is closed, 0 may be another file by now; -1 makes `dup` raise the system's error.
        descriptor = 0 if sys.stdin else -1
        file = open(os.dup(descriptor) if is_standard_input else path, "rb")  # noqa: SIM115

    with file:
        status = os.fstat(file.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else None
        stream = open_text(file, name)
        is_plain = stream is file
        if path.suffix == ".zst" and is_plain:
            # Programs of this project write such files. If the content is not zstd, the file was damaged.
            raise UserError(f"{path}: not a zstd stream; make it again")
        yield LineStream(
            name,
            read=lambda: stream.read1(_CHUNK_BYTES),
            poll_descriptor=file.fileno() if size is None and is_plain else None,
            size=size,
            get_position=None if size is None else file.tell,
        )


def read_lines(path: str | Path, progress: Progress | None = None, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a file, as `LineStream.decode_line` returns them.

    Args:
        progress: counts the bytes that are read from the disk.
        errors: the treatment of bytes that are not UTF-8, as for Python's `open`.

    Raises:
        UserError: the file is missing or damaged, or a line is not UTF-8 (with "strict").
    """
    with open_lines(Path(path)) as stream:
        reported_bytes = 0
        for line in stream:
            if progress and stream.bytes_done > reported_bytes:
                progress.update(stream.bytes_done - reported_bytes)
                reported_bytes = stream.bytes_done
            try:
                text = stream.decode_line(line, errors)
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{path}, line {stream.line_count}: not UTF-8 ({error.reason}); make it again, or convert the "
                    f"uncompressed text: iconv -f {_guess_encoding(line)} -t UTF-8 TEXT > NEW"
                ) from None
            yield text
        if progress:
            progress.update(stream.bytes_done - reported_bytes)


def _guess_encoding(line: bytes) -> str:
    """Return the name for iconv of the encoding that a line which is not UTF-8 probably has."""
    if line.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "UTF-32"
    return "UTF-16" if line.startswith((b"\xff\xfe", b"\xfe\xff")) else "WINDOWS-1252"


# --- pairs of lines ---------------------------------------------------------------------------------------------------


def read_pairs(
    source: str | Path, target: str | Path, progress: Progress | None = None, errors: str = "strict"
) -> Iterator[tuple[str, str]]:
    """Yield pairs of the lines of two files; see `read_lines` and `pair_lines`."""
    source_lines, target_lines = read_lines(source, progress, errors), read_lines(target, progress, errors)
    return pair_lines(source, target, source_lines, target_lines)


def pair_lines(
    source: str | Path, target: str | Path, source_lines: Iterable[Line], target_lines: Iterable[str]
) -> Iterator[tuple[Line, str]]:
    """Yield pairs of lines, given the lines of two files. What was read from a line may stand in its place.

    Raises:
        UserError: one file, `source` or `target`, ends before the other.
    """
    source_iterator, target_iterator = iter(source_lines), iter(target_lines)
    for pair_count, (source_line, target_line) in enumerate(zip_longest(source_iterator, target_iterator)):
        if source_line is None or target_line is None:
            # one file has ended: count the lines that are left in the other one
            source_count = target_count = pair_count
            if target_line is None:
                source_count += 1 + sum(1 for _ in source_iterator)
            else:
                target_count += 1 + sum(1 for _ in target_iterator)
            raise UnevenSidesError(
                f"{source} has {source_count:,} lines, {target} {target_count:,}; both sides need as many lines"
            )
        yield source_line, target_line


class UnevenSidesError(UserError):
    """The sides of a text have different numbers of lines."""


def read_pair_groups(
    sources: LineStream, targets: LineStream, max_lines: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield groups of lines of two inputs, with as many lines of each. Raises a UserError if one input ends first."""
    # The sources decide where a group ends, for example where a person pauses at a terminal. Then as many targets are
    # read.
    for source_lines in sources.read_groups(max_lines):
        target_lines = targets.take_lines(len(source_lines))
        if len(target_lines) < len(source_lines):
            raise UnevenSidesError(f"{targets.name} has fewer lines than {sources.name}")
        yield source_lines, target_lines
    if targets.take_lines(1):
        raise UnevenSidesError(f"{sources.name} has fewer lines than {targets.name}")


# --- writing ----------------------------------------------------------------------------------------------------------


class LineWriter:
    """Writes lines to an open binary file, and counts them."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self.line_count = 0

    def write(self, line: str) -> None:
        """Write a line. Raises a ValueError if it has a line break: later lines would not match the other side's."""
        if "\n" in line:
            raise ValueError(f"{self._path}, line {self.line_count + 1}: holds a line break: {line[:60]!r}")
        self.write_bytes(line.encode("utf-8"))

    def write_bytes(self, line: bytes) -> None:
        """Write the bytes of a line, which need not be UTF-8, and its end."""
        self._file.write(line + b"\n")
        self.line_count += 1

    def flush(self) -> None:
        """Flush the lines written so far."""
        self._file.flush()


@contextmanager
def line_writer(path: Path) -> Iterator[LineWriter]:
    """Yield a writer that appends lines to `path`, not atomically. The extension selects the compression.

    Callers rename the file when it is complete. Lines appended to a compressed file are a separate compressed stream,
    which readers join to the first one.
    """
    with path.open("ab") as file, compress(file, path.suffix) as compressed_file:
        yield LineWriter(path, compressed_file)


@contextmanager
def write_lines(path: str | Path) -> Iterator[LineWriter]:
    """Yield a writer of lines to a file, which appears if the block ends without an error.

    The same lines always make the same file, byte for byte, even if it is compressed. Lines to a pipe, a device or
    standard output are appended directly.
    """
    with atomic_path(path) as temporary, line_writer(temporary) as writer:
        yield writer
