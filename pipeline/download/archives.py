"""The members of tar and zip archives as streams.

The first bytes of an archive determine its type, not its name. Nothing is written to the disk.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, Any, cast

from nmt.errors import UserError, naming
from nmt.io.formats import decompressed
from nmt.io.progress import Progress

_CHUNK = 1 << 17
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
Visit = Callable[[str, IO[bytes]], None]
"""A function that takes the name of a member and a stream of its bytes."""


def visit_members(archive: Path, members: Collection[str] | None, visit: Visit) -> list[str]:
    """Call `visit` with each wanted member in the order of the archive (None: with the file itself)."""
    with (
        naming(archive, "remove it and download it again"),
        archive.open("rb") as raw,
        Progress.over_files([archive], f"extract {archive.name}") as progress,
    ):
        reported = io.BufferedReader(_Reported(raw, progress), _CHUNK)
        if members is None:
            visit(archive.name, cast(IO[bytes], reported))
            return []
        if reported.peek(4)[:4] in _ZIP:
            return _visit_zip(archive, reported, members, visit)
        return _visit_tar(archive, reported, members, visit)


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


def _visit_zip(archive: Path, raw: Any, members: Collection[str], visit: Visit) -> list[str]:
    with zipfile.ZipFile(raw) as zipped:
        for entry in zipped.infolist():
            if entry.filename in members:
                with zipped.open(entry) as stream:
                    visit(entry.filename, stream)
        return zipped.namelist()


def _visit_tar(archive: Path, raw: Any, members: Collection[str], visit: Visit) -> list[str]:
    names = []
    # unlike tarfile's own decompression, these check the checksum at the end; so the archive is read to its end
    stream = decompressed(raw)
    with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as packed:
        for entry in packed:
            name = entry.name.removeprefix("./")
            names.append(name)
            if name in members:
                content = packed.extractfile(entry) if entry.isfile() else None
                if content is None:
                    raise UserError(f"{archive}: {name} is a link or a folder in it, expected a file")
                visit(name, content)
    while stream.read(_CHUNK):
        pass
    return names
