"""The two sides of a corpus out of their archives, as lines in step, cut into shards.

Archives are read as streams: nothing but the wanted lines is written to the disk.
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import IO, cast

from nmt.errors import UserError
from nmt.files import atomic_path, write_json
from nmt.progress import Progress
from nmt.shards import shard_of
from nmt.text import DAMAGED, decompressed, line_writer

_SEGMENT = re.compile(rb"<seg\b[^>]*>(.*?)</seg\s*>", re.DOTALL | re.IGNORECASE)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]+|#[xX][0-9a-fA-F]+);")
_CHUNK = 1 << 17
_GZIP_MAGIC = b"\x1f\x8b"
_BROKEN = (*DAMAGED, tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError)

Visit = Callable[[str | None, IO[bytes]], None]
"""Takes the name of a member and its bytes."""


@dataclass
class Side:
    """One side of a corpus: where it is, where its shards go, and what was found."""

    archive: Path
    member: str | None
    outputs: Sequence[Path]
    lines: int = 0
    words: int = 0
    invalid_lines: int = 0
    empty_lines: int = 0
    temporaries: list[Path] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.archive}:{self.member}" if self.member else str(self.archive)


def extract(source: Side, target: Side, counts: Path) -> dict[str, int]:
    """Write both sides' shards and `counts`; nothing appears unless both sides have equally many lines.

    Invalid UTF-8 becomes U+FFFD and is counted; a carriage return at the end of a line goes.
    """
    if len(source.outputs) != len(target.outputs):
        raise UserError(
            f"extract: {len(source.outputs)} source shards but {len(target.outputs)} target shards"
        )
    with ExitStack() as stack:
        for side in (source, target):
            side.temporaries = [stack.enter_context(atomic_path(path)) for path in side.outputs]
        _read_archives(source, target)
        _check(source, target)
    found = {"pairs": source.lines} | _counts("source", source) | _counts("target", target)
    write_json(counts, found)
    return found


def _counts(name: str, side: Side) -> dict[str, int]:
    return {
        f"{name}_words": side.words,
        f"{name}_invalid_lines": side.invalid_lines,
        f"{name}_empty_lines": side.empty_lines,
    }


def _check(source: Side, target: Side) -> None:
    for side in (source, target):
        if not side.lines:
            raise UserError(f"{side}: holds no lines; check archive and member")
    if source.lines != target.lines:
        raise UserError(
            f"{source} has {source.lines} lines but {target} has {target.lines} lines: both sides need "
            "equally many; check that the members belong together"
        )


def _read_archives(source: Side, target: Side) -> None:
    """Read each archive once, whichever sides it holds."""
    if source.archive == target.archive and source.member == target.member:
        raise UserError(f"{source}: named as source and as target; a corpus needs two different texts")
    if source.archive == target.archive and source.member and target.member:
        _read_archive(source.archive, [source, target])
    else:
        for side in (source, target):
            _read_archive(side.archive, [side])


def _read_archive(archive: Path, sides: Sequence[Side]) -> None:
    wanted = {side.member: side for side in sides}

    def visit(member: str | None, stream: IO[bytes]) -> None:
        side = wanted.pop(member)
        _deal(_lines(PurePosixPath(member or archive.name), stream), side)

    try:
        with (
            archive.open("rb") as raw,
            Progress.over_files([archive], f"extract {archive.name}") as progress,
        ):
            reported = io.BufferedReader(_Reported(raw, progress), _CHUNK)
            names = _visit_members(archive, reported, set(wanted), visit)
    except FileNotFoundError:
        raise UserError(f"{archive}: no such file; download it first") from None
    except _BROKEN as error:
        raise UserError(f"{archive}: damaged ({error}); remove it and download it again") from None
    if wanted:
        raise _missing(archive, sorted(str(member) for member in wanted), names)


def _missing(archive: Path, members: list[str], names: list[str]) -> UserError:
    near = get_close_matches(members[0], names, n=3, cutoff=0.4)
    hint = f"near names: {', '.join(near)}" if near else f"it holds {len(names)} files"
    return UserError(f"{archive}: no member {', '.join(members)}; {hint}; correct the corpus in the config")


class _Reported(io.RawIOBase):
    """A file open for reading that tells `progress` how far it has been read."""

    def __init__(self, raw: IO[bytes], progress: Progress) -> None:
        self._raw = raw
        self._progress = progress
        self._done = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        position = self._raw.tell()
        if position > self._done:
            self._progress.update(position - self._done)
            self._done = position
        return len(data)


def _visit_members(archive: Path, raw: IO[bytes], wanted: set[str | None], visit: Visit) -> list[str]:
    """Call `visit` with each wanted member in the order of the archive; return all members' names."""
    if wanted == {None}:
        visit(None, raw)
        return []
    if archive.suffix == ".zip":
        return _visit_zip(raw, wanted, visit)
    return _visit_tar(raw, wanted, visit)


def _visit_zip(raw: IO[bytes], wanted: set[str | None], visit: Visit) -> list[str]:
    with zipfile.ZipFile(raw) as archive:
        for name in archive.namelist():
            if name in wanted:
                with archive.open(name) as stream:
                    visit(name, stream)
        return archive.namelist()


def _visit_tar(raw: IO[bytes], wanted: set[str | None], visit: Visit) -> list[str]:
    names = []
    magic = raw.read(len(_GZIP_MAGIC))
    raw.seek(0)
    # unlike tarfile's own stream mode, gzip checks the sum at the end; so the archive is read to its end
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if magic == _GZIP_MAGIC else raw
    with tarfile.open(fileobj=stream, mode="r|*") as archive:
        for entry in archive:
            name = entry.name.removeprefix("./")
            names.append(name)
            content = archive.extractfile(entry) if name in wanted and entry.isfile() else None
            if content is not None:
                visit(name, content)
    while stream.read(_CHUNK):
        pass
    return names


def _lines(name: PurePosixPath, stream: IO[bytes]) -> Iterator[bytes]:
    """Lines of a plain or compressed text or SGML file, as bytes without line ends."""
    if name.suffix in (".gz", ".zst"):
        yield from _lines(name.with_suffix(""), decompressed(stream, name.suffix))
    elif name.suffix == ".bz2":
        yield from _lines(name.with_suffix(""), cast(IO[bytes], bz2.open(stream)))  # noqa: SIM115 - the caller closes the stream
    elif name.suffix in (".sgm", ".sgml"):
        # development and test sets: small enough to be read whole
        for segment in _SEGMENT.finditer(stream.read()):
            yield segment.group(1)
    else:
        for line in stream:
            yield line.removesuffix(b"\n").removesuffix(b"\r")


def _is_sgml(member: str) -> bool:
    return any(suffix in (".sgm", ".sgml") for suffix in PurePosixPath(member).suffixes[-2:])


def _unescape(text: str) -> str:
    # exactly XML's entities: HTML's rules would also change `&copy` in running text
    return _ENTITY.sub(lambda entity: html.unescape(entity.group()), text).replace("\n", " ").strip()


def _deal(lines: Iterable[bytes], side: Side) -> None:
    """Deal lines to the shards of `side`, a block to each in turn."""
    sgml = _is_sgml(side.member or side.archive.name)
    with ExitStack() as stack:
        writers = [stack.enter_context(line_writer(path)) for path in side.temporaries]
        for raw in lines:
            text = _decode(raw, side)
            if sgml:
                text = _unescape(text)
            words = len(text.split())
            writers[shard_of(side.lines, len(writers))].write(text)
            side.lines += 1
            side.words += words
            side.empty_lines += not words


def _decode(raw: bytes, side: Side) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        side.invalid_lines += 1
        return raw.decode("utf-8", errors="replace")
