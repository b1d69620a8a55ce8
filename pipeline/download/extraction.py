"""Extraction of both sides of a corpus from archives, as parallel lines in shards.

Archives are read as streams, so that only the lines of the corpus are written to the disk. The first bytes of an
archive or a member, not its name, tell its format. The bytes of lines stay as they are, since cleaning is another step.
"""

import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from nmt.data.shards import ShardFiles
from nmt.errors import UserError, errors_as_user_error, printable
from nmt.io.compression import ZstdError, decompress
from nmt.io.files import atomic_path, read_json, write_json
from nmt.io.progress import Progress
from nmt.io.text_files import LineStream, open_text
from nmt.settings.base import suggest_name

_CHUNK_BYTES = 1 << 17
_ARCHIVE_ERRORS = (tarfile.TarError, zipfile.BadZipFile, ZstdError, NotImplementedError, RuntimeError)
"""The last two are raised for zip archives with other compression or a password."""
MemberStreams = Iterator[tuple[str, IO[bytes] | None]]
"""The name of each member of an archive, with a stream of the member's bytes or None."""


@dataclass(frozen=True)
class Side:
    """Where one side of a corpus is, and where its lines are to be written.

    archive: the file. member: the name of the text in the archive; None: the archive is the text. outputs: a file for
    each shard. md5: the checksum that the text in the archive must have; None: any.
    """

    archive: Path
    member: str | None
    outputs: Sequence[Path]
    md5: str | None = None

    def __str__(self) -> str:
        return f"{self.archive}:{self.member}" if self.member else str(self.archive)


@dataclass
class _ExtractedText:
    """The text of one side, with the values that `write_shards` computes while it reads the text.

    temporary_files: a file for each shard. md5: empty until the text is read.
    """

    side: Side
    temporary_files: Sequence[Path]
    line_count: int = 0
    word_count: int = 0
    md5: str = ""

    def write_shards(self, stream: IO[bytes]) -> None:
        """Distribute the lines of a plain or compressed text or SGML file over the shards, and compute its MD5."""
        md5 = hashlib.md5(usedforsecurity=False)
        hashed_stream = io.BufferedReader(_ObservedStream(stream, md5.update), _CHUNK_BYTES)
        text_stream = open_text(hashed_stream, str(self.side))
        with ShardFiles(self.temporary_files) as shards:
            for line in LineStream(str(self.side), lambda: text_stream.read1(_CHUNK_BYTES)):
                shards.open_writer(self.line_count).write_bytes(line)
                self.line_count += 1
                self.word_count += len(line.decode(errors="replace").split())

        # read to the end, so that the checksum covers the whole file
        while hashed_stream.read(_CHUNK_BYTES):
            pass
        self.md5 = md5.hexdigest()


def extract_corpus(sides: Mapping[str, Side], counts: Path, pairs: int | None = None) -> dict[str, Any]:
    """Write the shards of both sides and their counts. If the sides are not parallel, no file is left.

    Lines end at "\\n" and nowhere else. They keep their bytes, even carriage returns and invalid UTF-8.

    Args:
        sides: `source` and `target`, or one of them for text in one language.
        counts: the JSON file into which the returned values are written.
        pairs: the number of lines that each side must have; None: any.

    Returns:
        A dictionary: `pairs`; for each side its number of words and its MD5, such as `source_words` and `source_md5`.

    Raises:
        UserError: the archive or a member is missing, damaged, or not what the arguments say.
    """
    texts: dict[str, _ExtractedText] = {}
    with ExitStack() as stack:
        for name, side in sides.items():
            temporary_files = [stack.enter_context(atomic_path(path)) for path in side.outputs]
            texts[name] = _ExtractedText(side, temporary_files)

        # 1. read each archive once, whether it has one side or both
        for archive in dict.fromkeys(side.archive for side in sides.values()):
            _read_archive(archive, [text for text in texts.values() if text.side.archive == archive])

        # 2. check the texts
        for text in texts.values():
            _check_text(text, pairs)
        line_counts = {text.line_count for text in texts.values()}
        if len(line_counts) > 1:
            names = " and ".join(str(side) for side in sides.values())
            numbers = " and ".join(str(text.line_count) for text in texts.values())
            raise UserError(
                f"{names} have {numbers} lines, expected equal numbers; check that the members belong together"
            )

    # 3. write the counts
    values: dict[str, Any] = {"pairs": line_counts.pop()}
    for name, text in texts.items():
        values[f"{name}_words"] = text.word_count
        values[f"{name}_md5"] = text.md5
    write_json(counts, values)
    return values


def read_download_record(archive: Path) -> dict[str, Any] | None:
    """Return the source, size and checksums that a download recorded; None if the archive was not downloaded."""
    record_file = archive.with_name(f"{archive.name}.json")
    return read_json(record_file) if record_file.exists() else None


def _check_text(text: _ExtractedText, pairs: int | None) -> None:
    """Raise a UserError if a text has no lines, or not the expected checksum or number of lines (None: any)."""
    if not text.line_count:
        raise UserError(f"{text.side}: holds no lines; check archive and member")
    remedy = "a different version of the text; get the archive elsewhere, or correct the corpus in the config"
    expected_md5 = text.side.md5
    if expected_md5 is not None and expected_md5 != text.md5:
        raise UserError(f"{text.side}: its md5 is {text.md5}, expected {expected_md5}: {remedy}")
    if pairs is not None and pairs != text.line_count:
        raise UserError(f"{text.side}: {text.line_count} lines, expected {pairs}: {remedy}")


# --- archives ---------------------------------------------------------------------------------------------------------


def _read_archive(archive: Path, texts: Sequence[_ExtractedText]) -> None:
    """Read the texts of an archive. A member that is not at the given path may be in another folder of the archive."""
    # 1. the archive is the text, which may be that of both sides
    if texts[0].side.member is None:
        for text in texts:
            with _open_archive(archive) as stream:
                text.write_shards(stream)
        return

    # 2. the texts are members of the archive
    text_of_member = {str(text.side.member): text for text in texts}
    names = _read_members(archive, text_of_member)

    # 3. or they are in another folder of the archive: {"fr-en/train.fr": text} if the settings say "train.fr"
    moved_texts = {}
    for member, text in text_of_member.items():
        if text.md5:  # it was found
            continue
        same_names = {name for name in names if PurePosixPath(name).name == PurePosixPath(member).name}
        if len(same_names) != 1:
            suggestion = suggest_name(member, names)
            raise UserError(f"{archive}: no member {member}{suggestion}; correct the corpus in the config")
        moved_texts[same_names.pop()] = text
    if moved_texts:
        message = f"{archive}: found as {', '.join(moved_texts)}"
        print(printable(message), file=sys.stderr)
        _read_members(archive, moved_texts)


@contextmanager
def _open_archive(archive: Path) -> Iterator[IO[bytes]]:
    """Open an archive, with a progress bar. Errors of the archive's format become UserErrors."""
    with (
        errors_as_user_error(archive, *_ARCHIVE_ERRORS, remedy="remove it and download it again"),
        archive.open("rb") as stream,
        Progress.over_files([archive], f"extract {archive.name}") as progress,
    ):
        counted_stream = _ObservedStream(stream, lambda data: progress.update(len(data)))
        yield cast(IO[bytes], counted_stream)


def _read_members(archive: Path, text_of_member: Mapping[str, _ExtractedText]) -> list[str]:
    """Read the texts in the order of the archive. Return the names of all members of the archive."""
    names = []
    iterate_members = _iterate_zip if zipfile.is_zipfile(archive) else _iterate_tar
    with _open_archive(archive) as stream:
        for name, member_stream in iterate_members(stream, text_of_member):
            names.append(name)
            text = text_of_member.get(name)
            if text and member_stream:  # a link or a folder has no stream
                if text.md5:
                    raise UserError(f"{archive}: holds {name} twice; expected an archive with one of each")
                text.write_shards(member_stream)
    return names


def _iterate_zip(archive: IO[bytes], members: Collection[str]) -> MemberStreams:
    """Yield the name of each member of a zip archive, with a stream of its bytes if it is one of `members`."""
    with zipfile.ZipFile(archive) as zip_file:
        for name in zip_file.namelist():
            if name in members:
                with zip_file.open(name) as stream:
                    yield name, stream
            else:
                yield name, None


def _iterate_tar(archive: IO[bytes], members: Collection[str]) -> MemberStreams:
    """Yield the name of each member of a tar archive, with a stream if it is a file and one of `members`."""
    stream = decompress(io.BufferedReader(archive, _CHUNK_BYTES))
    with tarfile.open(fileobj=stream, mode="r|") as tar_file:
        for entry in tar_file:
            name = entry.name.removeprefix("./")
            has_stream = name in members and entry.isfile()
            yield name, tar_file.extractfile(entry) if has_stream else None
    # Read to the end, where the checksum is. tarfile's own decompression would not compare it.
    while stream.read(_CHUNK_BYTES):
        pass


class _ObservedStream(io.RawIOBase):
    """A readable stream that passes all bytes read from it to a function."""

    def __init__(self, stream: IO[bytes], observe: Callable[[bytes], object]) -> None:
        self._stream = stream
        self._observe = observe

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._observe(data)
        return len(data)
