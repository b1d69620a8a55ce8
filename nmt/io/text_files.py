"""Lines of text: UTF-8, split at "\\n" and nowhere else; whole files, or a pipe or terminal as it comes, in groups.

Python's `splitlines` also cuts at U+2028, U+0085 and others, which occur inside the lines of parallel text. Files may
be of any of `nmt.io.formats`. A group of a stream is full after a number of lines or characters; if the input pauses,
it ends earlier, so that users who type get an answer to each line. In a group, bytes that are not UTF-8 become U+FFFD;
the number of lines never changes.
"""

from __future__ import annotations

import gzip
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, cast

from nmt.errors import UserError, naming, system_errors
from nmt.io.files import atomic_path, replaceable
from nmt.io.formats import opened_text, zstd_writer
from nmt.io.progress import Progress

STANDARD = Path("-")
LONGEST_LINE = 1 << 24
"""Maximum number of bytes of a line, so that an endless line does not fill the memory."""
PAUSE_SECONDS = 0.05
"""Seconds without new bytes after which an input pauses."""
MAX_CHARACTERS = 1 << 18
"""Number of characters after which a group of long lines ends."""

_CHUNK = 1 << 16
_REPORT_LINES = 1000


class LineStream:
    """The lines of one input: as bytes, or as text in groups.

    `replaced` counts lines of groups that were not UTF-8. `size` is the size of the whole input in bytes, if it is
    known. `bytes_done` counts the bytes of the returned lines; for a compressed file, those that were read.
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
        self.lines = self.bytes_done = self.replaced = self.first_replaced = 0
        self._read, self._pausing, self._position = read, pausing, position
        self._split = self._lines()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines as bytes, without line ends. A UserError names a line that is too long."""
        return (line for line in self._split if line is not None)

    def _lines(self) -> Iterator[bytes | None]:
        """Yield the lines, and None before waiting for an input that pauses."""
        rest = b""
        while True:
            if self._pausing is not None and not select.select([self._pausing], [], [], PAUSE_SECONDS)[0]:
                yield None
            with naming(f"{self.name}, after line {self.lines}" if self.lines else self.name):
                chunk = self._read()
                self.bytes_done = self._position() if self._position else self.bytes_done
            *lines, rest = (rest + chunk).split(b"\n") if chunk else ([rest, b""] if rest else [b""])
            for line in lines:
                self.lines += 1
                self.bytes_done += 0 if self._position else len(line) + bool(chunk)
                yield line
            if len(rest) > LONGEST_LINE:
                raise UserError(
                    f"{self.name}, line {self.lines + 1} is longer than {LONGEST_LINE:,} bytes: expected lines of text"
                )
            if not chunk:
                return

    def groups(self, lines: int) -> Iterator[list[str]]:
        """Yield groups of at most `lines` lines. No group is empty."""
        group: list[str] = []
        characters = 0
        for line in self._split:
            if line is not None:
                group.append(self._decoded(line))
                characters += len(group[-1])
            if group and (line is None or len(group) == lines or characters >= MAX_CHARACTERS):
                yield group
                group, characters = [], 0
        if group:
            yield group

    def take(self, lines: int) -> list[str]:
        """Wait for the next `lines` lines and return them; there are fewer only at the end."""
        return [self._decoded(line) for line in islice(self, lines)]

    def _decoded(self, line: bytes) -> str:
        line = line.removesuffix(b"\r")
        if self.lines == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self.replaced += 1
            self.first_replaced = self.first_replaced or self.lines
            return line.decode("utf-8", "replace")


@contextmanager
def open_lines(path: Path) -> Iterator[LineStream]:
    """Open the lines of a file, or of standard input for `-`, in any of `nmt.io.formats`."""
    name = "standard input" if path == STANDARD else str(path)
    with system_errors(path):
        raw = (
            os.fdopen(os.dup(sys.stdin.fileno()), "rb", 0)
            if path == STANDARD
            else path.open("rb", buffering=0)
        )
    with raw:
        size = _size(raw.fileno())
        text = opened_text(raw, name)
        if path.suffix == ".zst" and text.is_plain:  # one of ours that was cut or overwritten is no text
            raise UserError(f"{path}: no zstd stream; make it again")
        pausing = raw.fileno() if size is None and text.is_plain else None
        position = None if text.is_plain or size is None else raw.tell
        yield LineStream(name, lambda: text.stream.read(_CHUNK), pausing, size, position)


def _size(descriptor: int) -> int | None:
    """Return the number of remaining bytes of an open file; None for anything else."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return None
    return max(0, status.st_size - os.lseek(descriptor, 0, os.SEEK_CUR))


def read_lines(path: str | Path, progress: Progress | None = None, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a file without their "\\n"; a `UserError` names file (and line) when it is damaged.

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
                text = line.decode("utf-8", errors)
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
    """Yield the lines of both sides together. A `UserError` names files and counts if one side ends first."""
    sources, targets = read_lines(source, progress, errors), read_lines(target, progress, errors)
    pairs = 0
    for source_line in sources:
        target_line = next(targets, None)
        if target_line is None:
            raise uneven(source, pairs + 1 + _count(sources), target, pairs)
        yield source_line, target_line
        pairs += 1
    rest = _count(targets)
    if rest:
        raise uneven(source, pairs, target, pairs + rest)


def _count(lines: Iterator[str]) -> int:
    return sum(1 for _ in lines)


def uneven(source: str | Path, sources: int, target: str | Path, targets: int) -> UserError:
    """Return the error for two sides with different numbers of lines."""
    return UserError(
        f"{source} has {sources} lines but {target} has {targets} lines: both sides need equally many; "
        "make both files again"
    )


def paired_groups(sources: LineStream, targets: LineStream, lines: int) -> Iterator[list[tuple[str, str]]]:
    """Yield groups of parallel lines of two inputs. Raise a UserError if one input ends first."""
    pairs = 0
    for group in sources.groups(lines):
        others = targets.take(len(group))
        pairs += len(others)
        if len(others) < len(group):
            raise UserError(
                f"{targets.name} ends after {pairs} lines, {sources.name} does not: give equally many"
            )
        yield list(zip(group, others, strict=True))
    if targets.take(1):
        raise UserError(
            f"{sources.name} ends after {pairs} lines, {targets.name} does not: give equally many"
        )


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
    at_once = not replaceable(Path(path))
    with atomic_path(path) as temporary, line_writer(temporary, append=at_once) as writer:
        yield writer


@contextmanager
def _compressed(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        # no name and no time inside: the bytes depend on the text only
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
            yield cast(IO[bytes], file)
    elif suffix == ".zst":
        with zstd_writer(raw) as stream, io.BufferedWriter(cast(io.RawIOBase, stream), _CHUNK) as file:
            yield cast(IO[bytes], file)
    else:
        yield raw
