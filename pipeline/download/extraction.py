"""Extraction of both sides of a corpus from archives, as parallel lines in shards.

Archives are read as streams, so that only the lines of the corpus are written to the disk. The first bytes of an
archive or a member, not its name, tell its format. The bytes of lines stay as they are, since cleaning is another step.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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

_CHUNK_BYTES = 1 << 17
_ARCHIVE_ERRORS = (tarfile.TarError, zipfile.BadZipFile, ZstdError, NotImplementedError, RuntimeError)
"""The last two are of zip archives with other compression or a password."""
_ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True)
class Side:
    """Where one side of a corpus is, and where its lines are to be written.

    archive: the file. member: the name of the text in it; None: the archive is the text. outputs: a file for each
    shard. md5: the checksum that the text must have, as it is in the archive; None: any.
    """

    archive: Path
    member: str | None
    outputs: Sequence[Path]
    md5: str | None = None

    def __str__(self) -> str:
        return f"{self.archive}:{self.member}" if self.member else str(self.archive)


@dataclass
class _ExtractedText:
    """The text of one side, with what `write_shards` counts while it reads the text.

    temporaries: a file for each shard. segments: the lines of SGML, with the names of document and segment.
    """

    side: Side
    temporaries: Sequence[Path]
    line_count: int = 0
    word_count: int = 0
    md5: str = ""
    segments: list[Segment] = field(default_factory=list)

    def write_shards(self, stream: IO[bytes]) -> None:
        """Distribute the lines of a plain or compressed text or SGML file over the shards, and compute its MD5."""
        md5 = hashlib.md5(usedforsecurity=False)
        hashed_stream = io.BufferedReader(_ObservedStream(stream, md5.update), _CHUNK_BYTES)
        text = open_text(hashed_stream, str(self.side))
        self.segments = text.segments
        with ShardFiles(self.temporaries) as shards:
            for line in LineStream(str(self.side), lambda: text.stream.read1(_CHUNK_BYTES)):
                shards.writer(self.line_count).write_bytes(line)
                self.line_count += 1
                self.word_count += len(line.decode(errors="replace").split())

        # read to the end, so that the checksum covers the whole file
        while hashed_stream.read(_CHUNK_BYTES):
            pass
        self.md5 = md5.hexdigest()


def extract_corpus(sides: Mapping[str, Side], counts: Path, pairs: int | None = None) -> dict[str, Any]:
    """Write the shards of both sides and their counts; nothing appears unless the sides are parallel.

    Lines end at "\\n" and nowhere else, and keep their bytes, a carriage return and invalid UTF-8 included.

    Args:
        sides: `source` and `target`, or one of them for text in one language.
        counts: the JSON file into which the returned values are written.
        pairs: the number of lines that each side must have; None: any.

    Returns:
        `pairs`; `source_words`, `source_md5` and the same of the target; `archives`: download records by archive.

    Raises:
        UserError: the archive or a member is missing, damaged, or not what the arguments say.
    """
    texts: dict[str, _ExtractedText] = {}
    with ExitStack() as stack:
        for name, side in sides.items():
            temporaries = [stack.enter_context(atomic_path(path)) for path in side.outputs]
            texts[name] = _ExtractedText(side, temporaries)
        # for text in one language, both are the same
        source = texts.get("source") or texts["target"]
        target = texts.get("target") or texts["source"]
        _read_texts(source, target)
        _check_texts(source, target, pairs)

    values: dict[str, Any] = {"pairs": source.line_count}
    records = {}
    for name, text in texts.items():
        values[f"{name}_words"] = text.word_count
        values[f"{name}_md5"] = text.md5
        record = read_download_record(text.side.archive)
        if record:
            records[str(text.side.archive)] = record
    values["archives"] = records
    write_json(counts, values)
    return values


def read_download_record(archive: Path) -> dict[str, Any] | None:
    """Return the source, size and checksums that a download recorded; None if the archive was not downloaded."""
    record_file = archive.with_name(f"{archive.name}.json")
    return read_json(record_file) if record_file.exists() else None


def _check_texts(source: _ExtractedText, target: _ExtractedText, pairs: int | None) -> None:
    """Raise a UserError unless both sides have the expected checksum and number of lines, and are parallel.

    For text in one language, `source` and `target` are the same.
    """
    other_version = (
        "another version of the text; get the archive elsewhere, or correct the corpus in the config"
    )
    for text in (source, target):
        if not text.line_count:
            raise UserError(f"{text.side}: holds no lines; check archive and member")
        expected_md5 = text.side.md5
        if expected_md5 is not None and expected_md5 != text.md5:
            raise UserError(
                f"{text.side}: its md5 is {text.md5}, expected {expected_md5}: {other_version} "
                "(`md5: null` accepts any text)"
            )

    # the numbers of lines
    if source.line_count != target.line_count:
        raise UserError(
            f"{source.side} has {source.line_count} lines but {target.side} has {target.line_count} lines: both sides "
            "must have the same number; check that the members belong together"
        )
    if pairs is not None and pairs != source.line_count:
        raise UserError(
            f"{source.side}: {source.line_count} pairs, expected {pairs}: {other_version} "
            "(`pairs: null` accepts any number)"
        )

    # documents and numbers of the segments, if the sides are SGML
    segment_pairs = zip(source.segments, target.segments, strict=False)
    for number, (source_segment, target_segment) in enumerate(segment_pairs, start=1):
        source_name, target_name = _name_segment(source_segment), _name_segment(target_segment)
        if source_name != target_name:
            raise UserError(
                f"{source.side} and {target.side} are not aligned: sentence {number} is {source_name} here and "
                f"{target_name} there; check that the members belong together"
            )


def _name_segment(segment: Segment) -> str:
    """Return the name of an SGML segment for messages, with that of its document."""
    document, name = segment.document.decode(errors="replace"), segment.name.decode(errors="replace")
    return f"document {document!r}, segment {name!r}"


# --- archives ---------------------------------------------------------------------------------------------------------


def _read_texts(source: _ExtractedText, target: _ExtractedText) -> None:
    """Read each archive once, whether it has one side or both."""
    is_same_archive = source.side.archive == target.side.archive
    if source is not target and is_same_archive and source.side.member and target.side.member:
        _read_archive(source.side.archive, [source, target])
    else:
        _read_archive(source.side.archive, [source])
        if target is not source:
            _read_archive(target.side.archive, [target])


def _read_archive(archive: Path, texts: Sequence[_ExtractedText]) -> None:
    """Read the texts of an archive. A member that is not there may be in another folder of the archive."""
    # 1. the archive is the text
    if texts[0].side.member is None:
        with _open_archive(archive) as (stream, progress):
            texts[0].write_shards(_count_bytes(stream, progress))
        return

    # 2. the texts are members of it
    text_of_member = {str(text.side.member): text for text in texts}
    names = _read_members(archive, text_of_member)
    missing_members = [member for member, text in text_of_member.items() if not text.md5]
    if not missing_members:
        return

    # 3. or they are members of another folder: {"fr-en/train.fr": text} if the settings say "train.fr"
    moved_texts = {}
    for member in missing_members:
        same_names = {name for name in names if PurePosixPath(name).name == PurePosixPath(member).name}
        if len(same_names) == 1:
            moved_texts[same_names.pop()] = text_of_member[member]
    if len(moved_texts) < len(missing_members):
        similar_names = get_close_matches(min(missing_members), names, n=3, cutoff=0.4)
        hint = (
            f"similar names: {', '.join(similar_names)}" if similar_names else f"it holds {len(names)} files"
        )
        raise UserError(
            f"{archive}: no member {', '.join(missing_members)}; {hint}; correct the corpus in the config"
        )
    message = f"{archive}: {', '.join(missing_members)} found as {', '.join(moved_texts)}"
    print(printable(message), file=sys.stderr)
    _read_members(archive, moved_texts)


@contextmanager
def _open_archive(archive: Path) -> Iterator[tuple[IO[bytes], Progress]]:
    """Open an archive, with a progress bar; an error of its format is a UserError."""
    with (
        errors_as_user_error(archive, "remove it and download it again", *_ARCHIVE_ERRORS),
        archive.open("rb") as stream,
        Progress.over_files([archive], f"extract {archive.name}") as progress,
    ):
        yield stream, progress


def _read_members(archive: Path, text_of_member: Mapping[str, _ExtractedText]) -> list[str]:
    """Read the texts in the order of the archive. Return the names of all its members."""
    names = []
    with _open_archive(archive) as (stream, progress):
        is_zip = stream.read(4) in _ZIP_SIGNATURES
        stream.seek(0)
        members = (
            _iterate_zip(stream, text_of_member)
            if is_zip
            else _iterate_tar(_count_bytes(stream, progress), text_of_member)
        )
        for name, member_stream in members:
            names.append(name)
            text = text_of_member.get(name)
            if text is None:
                continue
            if member_stream is None:
                raise UserError(f"{archive}: {name} is a link or a folder in it, expected a file")
            if text.md5:
                raise UserError(f"{archive}: holds {name} twice; expected an archive with one of each")
            text.write_shards(member_stream)
    return names


def _iterate_zip(archive: IO[bytes], members: Collection[str]) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Yield the name of each member of a zip archive, with a stream of its bytes if it is one of `members`."""
    with zipfile.ZipFile(archive) as zip_file:
        for name in zip_file.namelist():
            if name in members:
                with zip_file.open(name) as stream:
                    yield name, stream
            else:
                yield name, None


def _iterate_tar(archive: IO[bytes], members: Collection[str]) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Yield the name of each member of a tar archive, with a stream if it is a file and one of `members`."""
    # Unlike tarfile's own decompression, this one compares the checksum at the end of the stream.
    stream = decompress(io.BufferedReader(archive, _CHUNK_BYTES))
    with tarfile.open(fileobj=stream, mode="r|") as tar_file:
        for entry in tar_file:
            name = entry.name.removeprefix("./")
            has_stream = name in members and entry.isfile()
            yield name, tar_file.extractfile(entry) if has_stream else None
    while stream.read(_CHUNK_BYTES):
        pass


class _ObservedStream(io.RawIOBase):
    """A readable stream that passes all bytes read from it to a function."""

    def __init__(self, stream: IO[bytes], observe: Callable[[bytes], object]) -> None:
        self._stream = stream
        self._observe = observe

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._observe(data)
        return len(data)


def _count_bytes(stream: IO[bytes], progress: Progress) -> IO[bytes]:
    """Return the same stream, whose bytes move the progress bar when they are read."""
    return cast(IO[bytes], _ObservedStream(stream, lambda data: progress.update(len(data))))
