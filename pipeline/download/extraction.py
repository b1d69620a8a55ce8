"""Extraction of both sides of a corpus from archives, as parallel lines in shards.

Archives are read as streams, so that only the wanted lines are written to the disk. The first bytes of an archive or a
member, not its name, tell its format. The bytes of lines stay as they are; cleaning judges them.
"""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from nmt.data.shards import ShardFiles
from nmt.errors import UserError, printable
from nmt.io.files import atomic_path, read_json, write_json
from nmt.io.formats import Segment, opened_text
from nmt.io.text_files import LineStream
from pipeline.download.archives import visit_members

_CHUNK = 1 << 17


@dataclass
class Side:
    """One side of a corpus: its archive and member, the files of its shards, what is known of it, and its counts."""

    archive: Path
    member: str | None
    outputs: Sequence[Path]
    md5: str | None = None
    """Checksum that the member must have, as it lies in the archive; None: any."""
    lines: int = 0
    words: int = 0
    invalid_lines: int = 0
    empty_lines: int = 0
    found_md5: str = ""
    segments: list[Segment] = field(default_factory=list)
    """The lines of SGML, with the names of document and segment."""
    temporaries: list[Path] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.archive}:{self.member}" if self.member else str(self.archive)

    def count(self, line: bytes) -> None:
        """Count a line that was read."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            self.invalid_lines += 1
            text = line.decode(errors="replace")
        words = len(text.split())
        self.lines += 1
        self.words += words
        self.empty_lines += not words


def extract(source: Side, target: Side, counts: Path, pairs: int | None = None) -> dict[str, Any]:
    """Write both sides' shards and `counts`; nothing appears unless both sides have equally many lines.

    `pairs` says how many there must be. Lines end at "\\n" and nowhere else, and keep their bytes, a carriage return
    and invalid UTF-8 included. Counted are `pairs` and, with `source_` and `target_` before them, `words`,
    `invalid_lines` (not UTF-8), `empty_lines` and the `md5` seen of the member; `archives` holds what is known
    of the downloads.
    """
    if len(source.outputs) != len(target.outputs):
        raise UserError(
            f"extract: {len(source.outputs)} source shards but {len(target.outputs)} target shards"
        )
    with ExitStack() as stack:
        for side in (source, target):
            side.temporaries = [stack.enter_context(atomic_path(path)) for path in side.outputs]
        _read_archives(source, target)
        _check(source, target, pairs)
    archives = {side.archive: receipt(side.archive) for side in (source, target)}
    found = {"pairs": source.lines} | _counts("source", source) | _counts("target", target)
    found["archives"] = {str(archive): note for archive, note in archives.items() if note}
    write_json(counts, found)
    return found


def receipt(archive: Path) -> dict[str, Any] | None:
    """Return the source, size and checksums that a download noted; None for an archive that came another way."""
    note = archive.with_name(f"{archive.name}.json")
    return read_json(note) if note.exists() else None


def _counts(name: str, side: Side) -> dict[str, Any]:
    return {
        f"{name}_words": side.words,
        f"{name}_invalid_lines": side.invalid_lines,
        f"{name}_empty_lines": side.empty_lines,
        f"{name}_md5": side.found_md5,
    }


def _check(source: Side, target: Side, pairs: int | None) -> None:
    for side in (source, target):
        if not side.lines:
            raise UserError(f"{side}: holds no lines; check archive and member")
        if side.md5 not in (None, side.found_md5):
            raise UserError(
                f"{side}: its md5 is {side.found_md5}, expected {side.md5}: another version of the text; get the"
                " archive elsewhere, or correct `md5` of the corpus in the config (null takes any)"
            )
    if source.lines != target.lines:
        raise UserError(
            f"{source} has {source.lines} lines but {target} has {target.lines} lines: both sides need "
            "equally many; check that the members belong together"
        )
    if pairs not in (None, source.lines):
        raise UserError(
            f"{source}: {source.lines} pairs, expected {pairs}: another version of the text; get the archive"
            " elsewhere, or correct `pairs` of the corpus in the config (null takes any number)"
        )
    _check_segments(source, target)


def _check_segments(source: Side, target: Side) -> None:
    """Raise a `UserError` if both sides name documents and segments, and the names differ."""
    for line, pair in enumerate(zip(source.segments, target.segments, strict=False), 1):
        mine, other = ((segment.document, segment.name) for segment in pair)
        if mine != other:
            names = [
                f"document {doc.decode(errors='replace')!r}, segment {seg.decode(errors='replace')!r}"
                for doc, seg in (mine, other)
            ]
            raise UserError(
                f"{source} and {target} are not aligned: sentence {line} is {names[0]} here and {names[1]} there;"
                " check that the members belong together"
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
    """Read all sides that one archive holds, under their members' names or, if need be, in another folder of it."""
    if sides[0].member is None:
        visit_members(archive, None, lambda _, stream: _take(sides[0], stream))
        return
    wanted = {str(side.member): side for side in sides}
    names = _take_members(archive, wanted)
    if wanted:
        moved = {_elsewhere(member, names): side for member, side in wanted.items()}
        if None in moved or len(moved) < len(wanted):
            raise _missing(archive, sorted(wanted), names)
        found = printable(f"{archive}: {', '.join(wanted)} found as {', '.join(map(str, moved))}")
        print(found, file=sys.stderr)
        _take_members(archive, cast(dict[str, Side], moved))


def _take_members(archive: Path, wanted: dict[str, Side]) -> list[str]:
    """Read the members in `wanted` and remove them from it. Return the names of all members."""
    taken = set()

    def visit(member: str, stream: IO[bytes]) -> None:
        if member in taken:
            raise UserError(f"{archive}: holds {member} twice; expected an archive with one of each")
        taken.add(member)
        _take(wanted.pop(member), stream)

    return visit_members(archive, frozenset(wanted), visit)


def _elsewhere(member: str, names: Iterable[str]) -> str | None:
    """Return the only member of the same name in any folder."""
    found = {name for name in names if PurePosixPath(name).name == PurePosixPath(member).name}
    return found.pop() if len(found) == 1 else None


def _missing(archive: Path, members: list[str], names: list[str]) -> UserError:
    near = get_close_matches(members[0], names, n=3, cutoff=0.4)
    hint = f"near names: {', '.join(near)}" if near else f"it holds {len(names)} files"
    return UserError(f"{archive}: no member {', '.join(members)}; {hint}; correct the corpus in the config")


class _Checksummed(io.RawIOBase):
    """A readable stream that computes the checksum of what is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.md5 = hashlib.md5(usedforsecurity=False)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.md5.update(data)
        return len(data)


def _take(side: Side, stream: IO[bytes]) -> None:
    """Deal the lines of a plain or compressed text or SGML file to the shards of `side`, a block to each in turn; keep
    its checksum."""
    hashed = _Checksummed(stream)
    text = opened_text(cast(IO[bytes], hashed), str(side))
    side.segments = text.segments
    with ShardFiles(side.temporaries) as shards:
        for line in LineStream(str(side), lambda: text.stream.read(_CHUNK)):
            shards.writer(side.lines).write_bytes(line)
            side.count(line)
    while hashed.read(_CHUNK):
        pass
    side.found_md5 = hashed.md5.hexdigest()
