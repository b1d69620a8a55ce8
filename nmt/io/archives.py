"""Archives as streams: the members of a tar or zip archive, and the content of a compressed stream.

The first bytes of an archive or a member determine its type, not its name. Only `unpack` writes to the disk.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import stat
import struct
import sys
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, Any, cast

from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import DAMAGED, decompressed

_CHUNK = 1 << 17
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BROKEN = (
    *DAMAGED,
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    # zipfile's: for encryption, unknown compression, names that are no text, numbers that no file has
    RuntimeError,
    NotImplementedError,
    UnicodeDecodeError,
    OverflowError,
    struct.error,
)
"""Exceptions of reading a damaged archive."""

MOST_MEMBERS = 100_000
"""Maximum number of members of an archive, whose names are held in memory."""
LARGEST_HEADER = 1 << 16
"""Maximum bytes of headers between the data of two members of a tar archive (long names), which are held in memory."""
XZ_MEMORY = 1 << 28
"""Memory limit for unpacking xz in bytes: `xz -9` needs 65 MiB, but a header can ask for 4 GiB."""

Visit = Callable[[str, IO[bytes]], None]
"""A function that takes the name of a member and a stream of its bytes."""


def visit_members(archive: Path, members: Collection[str] | None, visit: Visit) -> list[str]:
    """Call `visit` with each wanted member in the order of the archive (None: with the file itself)."""
    try:
        with (
            archive.open("rb") as raw,
            Progress.over_files([archive], f"extract {archive.name}") as progress,
        ):
            reported = io.BufferedReader(_Reported(raw, progress), _CHUNK)
            if members is None:
                visit(archive.name, reported)
                return []
            if reported.peek(4)[:4] in _ZIP:
                return _visit_zip(archive, reported, members, visit)
            return _visit_tar(archive, reported, members, visit)
    except FileNotFoundError:
        raise UserError(f"{archive}: no such file; download it first") from None
    except _BROKEN as error:
        raise _damaged(archive, error) from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        # bz2 has no error of its own, and zip directories name places before the file's beginning
        raise _damaged(archive, error) from None


def _damaged(archive: Path, error: Exception) -> UserError:
    return UserError(f"{archive}: damaged ({error}); remove it and download it again")


class _Reported(io.RawIOBase):
    """A file open for reading that reports its position to `progress`."""

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


def _visit_zip(archive: Path, raw: IO[bytes], members: Collection[str], visit: Visit) -> list[str]:
    with zipfile.ZipFile(raw) as zipped:
        if len(zipped.infolist()) > MOST_MEMBERS:
            raise zipfile.BadZipFile(f"more than {MOST_MEMBERS:,} members")
        for entry in zipped.infolist():
            if entry.filename in members:
                kind = stat.S_IFMT(entry.external_attr >> 16)  # as Unix' zip notes it; others leave it empty
                if entry.is_dir() or kind not in (0, stat.S_IFREG):
                    raise _no_file(archive, entry.filename)
                with zipped.open(entry) as stream:
                    visit(entry.filename, stream)
        return zipped.namelist()


def _no_file(archive: Path, name: str) -> UserError:
    return UserError(f"{archive}: {name} is a link or a folder in it, expected a file")


class _Forward:
    """A forward-only stream for tarfile, with a limit of `left` bytes besides the bytes that tarfile skips.

    The limit is needed since tarfile reads headers of any size into memory.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._position = 0
        self.left = LARGEST_HEADER

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        if position < self._position:
            raise tarfile.ReadError("sizes that lead back")
        while self._position < position and self._next(min(position - self._position, _CHUNK)):
            pass

    def read(self, size: int) -> bytes:
        if not 0 <= size <= self.left:
            raise tarfile.ReadError(f"headers of more than {LARGEST_HEADER:,} bytes before a member")
        self.left -= size
        return self._next(size)

    def _next(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._position += len(data)
        return data


def tar_members(stream: IO[bytes]) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the archive in a stream with each of its members in turn. A member can be read until the next is requested.

    Raises:
        tarfile.TarError: a faulty header, a sparse file, or too many members.
    """
    forward = _Forward(stream)
    try:
        with tarfile.open(fileobj=cast(IO[bytes], forward), mode="r:") as packed:
            for number, entry in enumerate(packed):
                if number == MOST_MEMBERS:
                    raise tarfile.ReadError(f"more than {MOST_MEMBERS:,} members")
                if entry.issparse():
                    raise tarfile.ReadError("a sparse file, expected plain ones")
                forward.left = sys.maxsize
                yield packed, entry
                forward.left = LARGEST_HEADER
    except (
        ValueError,
        IndexError,
        RecursionError,
    ) as error:  # fields that are no numbers, headers before headers
        raise tarfile.ReadError(f"a malformed header: {error}") from None


def _visit_tar(
    archive: Path, raw: io.BufferedReader[Any], members: Collection[str], visit: Visit
) -> list[str]:
    names = []
    # unlike tarfile's own stream mode, these check the checksum at the end; so the archive is read to its end
    stream = plain(raw)
    for packed, entry in tar_members(stream):
        name = entry.name.removeprefix("./")
        names.append(name)
        if name in members:
            content = packed.extractfile(entry) if entry.isfile() else None
            if content is None:
                raise _no_file(archive, name)
            visit(name, content)
    while stream.read(_CHUNK):
        pass
    return names


def unpack(archive: Path, folder: Path) -> None:
    """Write the files of a tar archive of source code below a folder.

    Raises:
        tarfile.TarError: it is damaged, or a member is outside of the folder (not checked by Python before 3.11.4).
    """
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)


def plain(stream: io.BufferedReader[Any]) -> IO[bytes]:
    """Return the decompressed stream if the first bytes show that it is compressed, otherwise the stream itself."""
    head = stream.peek(10)
    if head.startswith(b"\x1f\x8b\x08"):
        return cast(IO[bytes], io.BufferedReader(gzip.GzipFile(fileobj=stream), _CHUNK))
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return cast(IO[bytes], bz2.open(stream))
    if head.startswith(b"\xfd7zXZ\x00"):
        return io.BufferedReader(_XzReader(stream), _CHUNK)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return decompressed(stream, ".zst")
    return stream


class _XzReader(io.RawIOBase):
    """Decompressed bytes of concatenated xz streams, in bounded memory, unlike the library's `LZMAFile`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._stream = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = b""
        while not data:
            chunk = b""
            if self._stream.eof:
                chunk = self._stream.unused_data.lstrip(b"\0")  # padding between streams
                while not chunk and (more := self._file.read(_CHUNK)):
                    chunk = more.lstrip(b"\0")
                if not chunk:
                    return 0
                self._stream = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            elif self._stream.needs_input and not (chunk := self._file.read(_CHUNK)):
                raise EOFError("xz stream ended before its end marker")
            data = self._stream.decompress(chunk, len(buffer))
        buffer[: len(data)] = data
        return len(data)
