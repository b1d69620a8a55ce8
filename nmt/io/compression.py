"""Compressed files: gzip, bzip2, xz and zstd.

The first bytes of a file decide how it is read, since people rename files, and servers send compressed files under any
name. The extension decides how a file is written.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZstdError = zstd.ZstdError

_FORMATS: tuple[tuple[re.Pattern[bytes], Callable[[Any], Any]], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), gzip.open),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2File),
    (re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), zstd.ZstdFile),
)
"""First bytes of compressed files, each with the function that opens such a file. pzstd begins a file with a skippable
frame."""

_BUFFER_BYTES = 1 << 17


def decompress(file: io.BufferedReader[Any]) -> io.BufferedReader[Any]:
    """Return a stream of a file's bytes, decompressed if its first bytes say that it is compressed."""
    first_bytes = file.peek()
    for pattern, open_compressed in _FORMATS:
        if pattern.match(first_bytes):
            return open_compressed(file)  # type: ignore[no-any-return]
    return file


def open_zstd_writer(file: IO[bytes]) -> Any:
    """Return a writer that compresses bytes with zstd into an open file. Checksums are written, but no name or time."""
    zstd_file = zstd.ZstdFile(file, "w", options={zstd.CompressionParameter.checksum_flag: 1})
    zstd_file.write(b"")  # so that a file to which nothing else is written is a zstd stream, too
    return zstd_file


_WRITERS: dict[str, Callable[[IO[bytes]], AbstractContextManager[Any]]] = {
    ".gz": lambda file: gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
    ".zst": lambda file: io.BufferedWriter(open_zstd_writer(file), _BUFFER_BYTES),
}
COMPRESSED = tuple(_WRITERS)
"""Extensions of names whose files are written compressed."""


def compress(file: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    """Return a context manager with a writer that compresses bytes into an open file.

    The suffix selects the format; with any other suffix, bytes are written as they are. Equal bytes give equal
    compressed bytes, since no name and no time is written.
    """
    return _WRITERS.get(suffix, nullcontext)(file)


def name_without_compression(path: Path) -> str:
    """Return the name of a file without the extension of compressed ones: "a.jsonl" for a.jsonl.gz and a.jsonl."""
    return path.stem if path.suffix in COMPRESSED else path.name
