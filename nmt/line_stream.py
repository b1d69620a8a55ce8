"""Lines that come in whatever way: from a file, a pipe or a terminal, in groups, as soon as they are there.

A group is full after so many lines or characters; where the input pauses, it ends before that, so that somebody who
types gets an answer to each line. Bytes that are no UTF-8 become U+FFFD; the number of lines never changes.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nmt.errors import UserError
from nmt.text import DAMAGED, decompressed

STANDARD = Path("-")
CHUNK = 1 << 16
PAUSE_SECONDS = 0.05
"""An input that gives nothing for so long pauses."""
MAX_CHARACTERS = 1 << 18
"""A group of long lines ends after so many characters."""


class LineStream:
    """Lines of one input, in groups. `bytes_read` grows as it is read; `replaced` counts lines that were no UTF-8."""

    def __init__(self, name: str, read: Callable[[], bytes], pausing: int | None) -> None:
        """`read` gives some bytes, none at the end; `pausing` is the descriptor that may have none for a while."""
        self.name = name
        self.bytes_read = 0
        self.replaced = 0
        self.first_replaced = 0
        self._lines = 0
        self._read, self._pausing = read, pausing
        self._buffer = bytearray()
        self._searched = 0
        self._ended = False

    def groups(self, lines: int) -> Iterator[list[str]]:
        """Groups of at most `lines` lines, without line ends, none of them empty."""
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
        """The next `lines` lines, waiting for them; fewer only at the end."""
        found: list[str] = []
        while len(found) < lines and (line := self._next(wait=True)) is not None:
            found.append(line)
        return found

    def _next(self, wait: bool) -> str | None:
        """The next line; None at the end, or, unless told to `wait`, when the input pauses."""
        while (end := self._buffer.find(b"\n", self._searched)) < 0:
            if self._ended:
                end = len(self._buffer)
                break
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
        try:
            chunk = self._read()
        except DAMAGED as error:
            raise UserError(f"{self.name}: damaged after line {self._lines} ({error})") from None
        self._ended = not chunk
        self.bytes_read += len(chunk)
        self._buffer += chunk

    def _pauses(self) -> bool:
        return self._pausing is not None and not select.select([self._pausing], [], [], PAUSE_SECONDS)[0]

    def _decoded(self, line: bytes) -> str:
        self._lines += 1
        if self._lines == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self.replaced += 1
            self.first_replaced = self.first_replaced or self._lines
            return line.decode("utf-8", "replace")


def paired_groups(sources: LineStream, targets: LineStream, lines: int) -> Iterator[list[tuple[str, str]]]:
    """Groups of lines of two inputs, in step; a UserError when one of them ends first."""
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
    """The lines of a file (decompressed by its extension), or of standard input for `-`."""
    if path == STANDARD:
        descriptor = sys.stdin.fileno()
        pausing = None if stat.S_ISREG(os.fstat(descriptor).st_mode) else descriptor
        yield LineStream("standard input", lambda: os.read(descriptor, CHUNK), pausing)
        return
    try:
        raw = path.open("rb", buffering=0)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder, expected a file of text") from None
    with raw:
        plain = path.suffix not in (".gz", ".zst")
        descriptor = raw.fileno()
        pausing = descriptor if plain and not stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        file = decompressed(raw, path.suffix)
        yield LineStream(str(path), lambda: file.read(CHUNK), pausing)
