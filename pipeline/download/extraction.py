"""Extraction of both sides of a corpus from archives, as parallel lines in shards.

Archives are read as streams, so that only the wanted lines are written to the disk. The first bytes of an archive or a
member, not its name, tell its format. The bytes of lines stay as they are; cleaning judges them.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from nmt.data.shards import ShardFiles
from nmt.errors import UserError, errors_as_user_error, printable
from nmt.io.compression import ZstdError, decompress
from nmt.io.files import atomic_path, read_json, write_json
from nmt.io.progress import Progress
from nmt.io.sgml import Segment
from nmt.io.text_files import LineStream, open_text

_CHUNK = 1 << 17
_ARCHIVE_ERRORS = (tarfile.TarError, zipfile.BadZipFile, ZstdError, NotImplementedError, RuntimeError)
"""The last two are of zip archives with other compression or a password."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


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
    found_md5: str = ""
    segments: list[Segment] = field(default_factory=list)
    """The lines of SGML, with the names of document and segment."""
    temporaries: list[Path] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.archive}:{self.member}" if self.member else str(self.archive)


def extract_corpus(sides: Mapping[str, Side], counts: Path, pairs: int | None = None) -> dict[str, Any]:
    """Write the shards of `source` and `target`, and `counts`; nothing appears unless both have equally many lines.

    Text in one language has one of the sides. `pairs` says how many lines there must be. Lines end at "\\n" and nowhere
    else, and keep their bytes, a carriage return and invalid UTF-8 included. Counted are `pairs` and, with `source_`
    or `target_` before them, `words` and the `md5` seen of the member; `archives` holds what is known of the downloads.
    """
    with ExitStack() as stack:
        for side in sides.values():
            side.temporaries = [stack.enter_context(atomic_path(path)) for path in side.outputs]
        _read_archives([*sides.values()])
        _check([*sides.values()], pairs)
    archives = {side.archive: read_download_record(side.archive) for side in sides.values()}
    found: dict[str, Any] = {"pairs": next(iter(sides.values())).lines}
    for name, side in sides.items():
        found |= {f"{name}_words": side.words, f"{name}_md5": side.found_md5}
    found["archives"] = {str(archive): note for archive, note in archives.items() if note}
    write_json(counts, found)
    return found


def read_download_record(archive: Path) -> dict[str, Any] | None:
    """Return the source, size and checksums that a download noted; None for an archive that came another way."""
    note = archive.with_name(f"{archive.name}.json")
    return read_json(note) if note.exists() else None


def _check(sides: Sequence[Side], pairs: int | None) -> None:
    other = "another version of the text; get the archive elsewhere, or correct the corpus in the config"
    source, target = sides[0], sides[-1]
    for side in sides:
        if not side.lines:
            raise UserError(f"{side}: holds no lines; check archive and member")
        if side.md5 not in (None, side.found_md5):
            raise UserError(
                f"{side}: its md5 is {side.found_md5}, expected {side.md5}: {other} (md5: null takes any)"
            )
    if source.lines != target.lines:
        raise UserError(
            f"{source} has {source.lines} lines but {target} has {target.lines} lines: both sides need "
            "equally many; check that the members belong together"
        )
    if pairs not in (None, source.lines):
        raise UserError(
            f"{source}: {source.lines} pairs, expected {pairs}: {other} (pairs: null takes any number)"
        )
    for line, (mine, theirs) in enumerate(zip(source.segments, target.segments, strict=False), 1):
        if (mine.document, mine.name) != (theirs.document, theirs.name):
            here, there = (
                f"document {segment.document.decode(errors='replace')!r}, segment"
                f" {segment.name.decode(errors='replace')!r}"
                for segment in (mine, theirs)
            )
            raise UserError(
                f"{source} and {target} are not aligned: sentence {line} is {here} here and {there} there;"
                " check that the members belong together"
            )


# --- archives ---------------------------------------------------------------------------------------------------------


def _read_archives(sides: Sequence[Side]) -> None:
    """Read each archive once, whichever sides it holds."""
    source, target = sides[0], sides[-1]
    if source is not target and source.archive == target.archive and source.member and target.member:
        _read_archive(source.archive, [source, target])
    else:
        for side in sides:
            _read_archive(side.archive, [side])


def _read_archive(archive: Path, sides: Sequence[Side]) -> None:
    """Read all sides that one archive holds, under their members' names or, if need be, in another folder of it."""
    if sides[0].member is None:
        with _opened(archive) as (raw, progress):
            _take(sides[0], cast(IO[bytes], _Watched(raw, lambda data: progress.update(len(data)))))
        return
    names = _read_members(archive, {str(side.member): side for side in sides})
    if absent := {str(side.member): side for side in sides if not side.found_md5}:
        moved = {_elsewhere(member, names): side for member, side in absent.items()}
        if None in moved or len(moved) < len(absent):
            near = get_close_matches(min(absent), names, n=3, cutoff=0.4)
            hint = f"near names: {', '.join(near)}" if near else f"it holds {len(names)} files"
            raise UserError(
                f"{archive}: no member {', '.join(absent)}; {hint}; correct the corpus in the config"
            )
        found = printable(f"{archive}: {', '.join(absent)} found as {', '.join(map(str, moved))}")
        print(found, file=sys.stderr)
        _read_members(archive, cast(dict[str, Side], moved))


def _elsewhere(member: str, names: Iterable[str]) -> str | None:
    """Return the only member of the same name in any folder."""
    found = {name for name in names if PurePosixPath(name).name == PurePosixPath(member).name}
    return found.pop() if len(found) == 1 else None


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[IO[bytes], Progress]]:
    with (
        errors_as_user_error(archive, "remove it and download it again", *_ARCHIVE_ERRORS),
        archive.open("rb") as raw,
        Progress.over_files([archive], f"extract {archive.name}") as progress,
    ):
        yield raw, progress


def _read_members(archive: Path, wanted: Mapping[str, Side]) -> list[str]:
    """Read the wanted members in the order of the archive. Return the names of all members."""
    names = []
    with _opened(archive) as (raw, progress):
        is_zip = raw.read(4) in _ZIP
        raw.seek(0)
        for name, stream in _of_zip(raw, wanted) if is_zip else _of_tar(raw, wanted, progress):
            names.append(name)
            if name in wanted:
                if stream is None:
                    raise UserError(f"{archive}: {name} is a link or a folder in it, expected a file")
                if wanted[name].found_md5:
                    raise UserError(f"{archive}: holds {name} twice; expected an archive with one of each")
                _take(wanted[name], stream)
    return names


def _of_zip(raw: IO[bytes], wanted: Collection[str]) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Yield the names of all members, the wanted ones with a stream of their bytes."""
    with zipfile.ZipFile(raw) as packed:
        for name in packed.namelist():
            if name in wanted:
                with packed.open(name) as stream:
                    yield name, stream
            else:
                yield name, None


def _of_tar(
    raw: IO[bytes], wanted: Collection[str], progress: Progress
) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Yield the names of all members, the wanted ones with a stream of their bytes if they are files."""
    watched = io.BufferedReader(_Watched(raw, lambda data: progress.update(len(data))), _CHUNK)
    # unlike tarfile's own decompression, this checks the checksum at the end; so the archive is read to its end
    stream = decompress(watched)
    with tarfile.open(fileobj=stream, mode="r|") as packed:
        for entry in packed:
            name = entry.name.removeprefix("./")
            yield name, packed.extractfile(entry) if name in wanted and entry.isfile() else None
    while stream.read(_CHUNK):
        pass


class _Watched(io.RawIOBase):
    """A readable stream that shows to a function what is read."""

    def __init__(self, stream: IO[bytes], seen: Callable[[bytes], object]) -> None:
        self._stream = stream
        self._seen = seen

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._seen(data)
        return len(data)


# --- lines ------------------------------------------------------------------------------------------------------------


def _take(side: Side, stream: IO[bytes]) -> None:
    """Deal the lines of a plain or compressed text or SGML file to the shards of `side`; keep its checksum."""
    md5 = hashlib.md5(usedforsecurity=False)
    hashed = io.BufferedReader(_Watched(stream, md5.update), _CHUNK)
    text = open_text(hashed, str(side))
    side.segments = text.segments
    with ShardFiles(side.temporaries) as shards:
        for line in LineStream(str(side), lambda: text.stream.read1(_CHUNK)):
            shards.writer(side.lines).write_bytes(line)
            side.lines += 1
            side.words += len(line.decode(errors="replace").split())
    while hashed.read(_CHUNK):
        pass
    side.found_md5 = md5.hexdigest()
