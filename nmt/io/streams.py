"""Reads lines from a file, a pipe or a terminal, in groups, as soon as they are available.

A group is full after a number of lines or characters. If the input pauses, the group ends earlier, so that users who
type get an answer to each line. Bytes that are not UTF-8 become U+FFFD; the number of lines never changes.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nmt.errors import UserError, naming, system_errors
from nmt.io.formats import opened_text

STANDARD = Path("-")
CHUNK = 1 << 16
PAUSE_SECONDS = 0.05
"""Seconds without new bytes after which an input pauses."""
MAX_CHARACTERS = 1 << 18
"""Number of characters after which a group of long lines ends."""
MAX_BYTES = 1 << 20
"""Maximum bytes of a line. The rest of a longer line is left out, so that memory is bounded."""


class LineStream:
    """Lines of one input, in groups.

    `replaced` counts lines that were not UTF-8; `cut` counts lines that were cut at `max_bytes`. `size` is the size of
    the whole input in bytes, if it is known.
    """

    max_bytes = MAX_BYTES

    def __init__(
        self,
        name: str,
        read: Callable[[], bytes],
        pausing: int | None,
        size: int | None = None,
        position: Callable[[], int] | None = None,
    ) -> None:
        """Take the functions for reading.

        `read` returns some bytes, and none at the end. `pausing` is the descriptor of an input that may pause.
        `position` returns how much of `size` has been read, if that is not the number of bytes from `read`.
        """
        self.name, self.size = name, size
        self.replaced = self.first_replaced = 0
        self.cut = self.first_cut = 0
        self._lines = self._bytes_read = 0
        self._read, self._pausing, self._position = read, pausing, position
        self._buffer = bytearray()
        self._searched = 0
        self._ended = False

    @property
    def bytes_done(self) -> int:
        """Number of bytes of the returned lines; for a compressed file, the number of bytes that were read."""
        return self._position() if self._position else self._bytes_read - len(self._buffer)

    def groups(self, lines: int) -> Iterator[list[str]]:
        """Yield groups of at most `lines` lines, without line ends. No group is empty."""
        group: list[str] = []
        characters = 0
        while True:
            line = self._next(wait=not group)
            if line is not None:
                group.append(line)
                characters += len(line)
            if group and (line is None or len(group) == lines or characters >= MAX_CHARACTERS):
                yield group
                group, characters = [], 0
            elif line is None:
                return

    def take(self, lines: int) -> list[str]:
        """Wait for the next `lines` lines and return them; there are fewer only at the end."""
        found: list[str] = []
        while len(found) < lines and (line := self._next(wait=True)) is not None:
            found.append(line)
        return found

    def _next(self, wait: bool) -> str | None:
        """Return the next line; None at the end, or if the input pauses and `wait` is False."""
        while (end := self._buffer.find(b"\n", self._searched)) < 0:
            if self._ended:
                end = len(self._buffer)
                break
            del self._buffer[
                self.max_bytes + 2 :
            ]  # the bytes too many, one of them perhaps \r, tell that it was longer
            self._searched = len(self._buffer)
            if not wait and self._pauses():
                return None
            self._fill()
        if self._ended and not self._buffer:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return self._decoded(line.removesuffix(b"\r"))

    def _fill(self) -> None:
        with naming(f"{self.name}, after line {self._lines}"):
            chunk = self._read()
        self._ended = not chunk
        self._bytes_read += len(chunk)
        self._buffer += chunk

    def _pauses(self) -> bool:
        return self._pausing is not None and not select.select([self._pausing], [], [], PAUSE_SECONDS)[0]

    def _decoded(self, line: bytes) -> str:
        self._lines += 1
        if len(line) > self.max_bytes:
            self.cut += 1
            self.first_cut = self.first_cut or self._lines
            line = _cut(line, self.max_bytes)
        if self._lines == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self.replaced += 1
            self.first_replaced = self.first_replaced or self._lines
            return line.decode("utf-8", "replace")


def _cut(line: bytes, end: int) -> bytes:
    """Return the first `end` bytes of a longer line, without the beginning of an incomplete character."""
    for shorter in range(4):
        if line[end - shorter] & 0xC0 != 0x80:
            return line[: end - shorter]
    return line[:end]


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
        pausing = raw.fileno() if size is None and text.is_plain else None
        position = None if text.is_plain or size is None else raw.tell
        yield LineStream(name, lambda: text.stream.read(CHUNK), pausing, size, position)


def _size(descriptor: int) -> int | None:
    """Return the number of remaining bytes of an open file; None for anything else."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return None
    return max(0, found.st_size - os.lseek(descriptor, 0, os.SEEK_CUR))
