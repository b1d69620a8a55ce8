"""Lines of text: UTF-8, split at "\\n" and nowhere else. Files that are read may be of any of `nmt.io.formats`.

Python's `splitlines` also cuts at U+2028, U+0085 and others, which occur inside the lines of parallel text.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, cast

from nmt.errors import UserError, naming
from nmt.io.files import atomic_path, replaceable
from nmt.io.formats import opened_text, zstd_writer
from nmt.io.progress import Progress

LONGEST_LINE = 1 << 24
"""Maximum number of bytes (or characters) of a line, so that an endless line does not fill the memory."""

_CHUNK = 1 << 17
_REPORT_LINES = 1000


def read_lines(path: str | Path, progress: Progress | None = None, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a file without their "\\n"; a `UserError` names file (and line) when it is damaged.

    `progress` counts the bytes read from the disk. `errors` says what becomes of bytes that are not UTF-8, as for
    Python's `open`.
    """
    path = Path(path)
    number = 0
    with (
        naming(lambda: f"{path}, after line {number}" if number else str(path)),
        path.open("rb", buffering=_CHUNK) as raw,
        _text(raw, path, errors) as text,
    ):
        lines = iter(partial(text.readline, LONGEST_LINE), "")
        for line in _reported(lines, raw, progress):
            number += 1
            if len(line) == LONGEST_LINE:
                raise too_long(f"{path}, line {number}", LONGEST_LINE)
            yield line.removesuffix("\n")


def too_long(line: str, most: int) -> UserError:
    """Return the error for a line, named by `line`, with more than the maximum number of bytes."""
    return UserError(f"{line} is longer than {most:,} bytes: expected lines of text")


def _text(raw: IO[bytes], path: Path, errors: str) -> io.TextIOWrapper:
    text = opened_text(raw, path)
    if path.suffix == ".zst" and text.is_plain:  # one of ours that was cut or overwritten is no text
        raise EOFError("no zstd stream")
    # newline="\n" ends lines there only and translates nothing
    return io.TextIOWrapper(
        io.BufferedReader(cast(io.RawIOBase, text.stream), _CHUNK),
        encoding="utf-8",
        errors=errors,
        newline="\n",
    )


def _reported(lines: Iterable[str], raw: IO[bytes], progress: Progress | None) -> Iterator[str]:
    """Yield the lines, and regularly report the position in the file to `progress`."""
    if progress is None:
        yield from lines
        return
    done = 0
    for number, line in enumerate(lines):
        if number % _REPORT_LINES == 0:
            position = raw.tell()
            progress.update(position - done)
            done = position
        yield line
    progress.update(raw.tell() - done)


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
