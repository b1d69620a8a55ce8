"""One file from one source, a folder or a server: checked, asked for again, resumed where it broke off."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import requests
import tenacity
import urllib3

from nmt.errors import UserError
from nmt.io.files import disk_full
from nmt.io.progress import Progress
from pipeline.download.http_source import (
    Session,
    SlowError,
    SourceError,
    TransientError,
    Version,
    announced_bytes,
    answer,
    check_status,
    range_begin,
    reason,
)

CHUNK = 1 << 18
_FICLONE = 0x40049409
"""The request's number in Linux' ioctl_ficlone(2)."""
LEAST_FREE = 1 << 28
"""Bytes that stay free on the disk while a file comes whose length nobody knows."""
_WATCHED = 1 << 24
"""Bytes after which the disk is looked at again."""
_LEAST_GAIN = 1 << 16
"""Bytes that as many requests as are made without any gain must add up to, or the source is left."""


@dataclass(frozen=True)
class Seen:
    """Size and checksums of a file."""

    bytes: int
    md5: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Seen:
        """Read a file once."""
        hashes = hashlib.md5(usedforsecurity=False), hashlib.sha256()
        size = 0
        with path.open("rb") as file:
            while data := file.read(CHUNK):
                size += len(data)
                for each in hashes:
                    each.update(data)
        return cls(size, *(each.hexdigest() for each in hashes))


@dataclass(frozen=True)
class Expected:
    """What is known of the file; what is None is not checked."""

    bytes: int | None = None
    md5: str | None = None
    sha256: str | None = None

    @property
    def has_checksum(self) -> bool:
        """Whether wrong bytes would be noticed."""
        return self.md5 is not None or self.sha256 is not None

    @property
    def known(self) -> list[str]:
        """Names of what is known."""
        return [name for name, value in asdict(self).items() if value is not None]

    def problem(self, seen: Seen) -> str | None:
        """What is wrong with a file, or None."""
        if self.bytes is not None and seen.bytes != self.bytes:
            return f"{seen.bytes} bytes, expected {self.bytes}"
        for algorithm, expected in (("md5", self.md5), ("sha256", self.sha256)):
            if expected is not None and (found := getattr(seen, algorithm)) != expected:
                return f"{algorithm} is {found}, expected {expected}"
        return None


@dataclass(frozen=True)
class Patience:
    """How often a source that gives nothing is asked, and the seconds in between (doubling from `wait`).

    `longest_asked`: a source that asks for a longer pause (Retry-After) is left. `silence`: seconds without a byte, or
    with fewer than `slowest` bytes per second, after which a connection is given up; `attempts` connections that break
    off with fewer are the last. `connect`: seconds to get one.
    """

    attempts: int = 5
    wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked: float = 600.0
    connect: float = 30.0
    silence: float = 60.0
    slowest: float = 1000.0


class Transfer:
    """One file from one source, to a part beside its output."""

    def __init__(self, source: str, part: Path, expected: Expected, patience: Patience) -> None:
        self.source = source
        self.part = part
        self.expected = expected
        self.patience = patience
        self._resumed = False
        self._version = Version()
        self._open_ended = False
        """Whether the last answer did not say how long the file is, and nobody else knows."""

    # --- from a folder

    def from_folder(self, path: Path) -> Seen:
        """Take a file of this machine, always from the beginning; what is known of it is checked first."""
        with _mirror_errors():
            if not path.is_file():
                raise SourceError("no such file")
            seen = Seen.of(path)
        if problem := self.expected.problem(seen):
            raise SourceError(problem)
        self.part.unlink(missing_ok=True)
        if not _cloned(path, self.part):
            _check_disk(self.part, seen.bytes)
            self._write(_chunks(path), seen.bytes, 0)
        return seen

    # --- from a server

    def from_web(self) -> Seen:
        """Complete the part and check it; wrong bytes go, and after a resume they are asked for anew.

        Where nobody says how long the file is, wrong bytes may be too few: the rest is asked for, once.
        """
        self._resumed = self.part.exists()
        if self.expected.bytes is not None:
            _check_disk(self.part, self.expected.bytes - _size(self.part))
        self._fetch()
        seen = Seen.of(self.part)
        if self.expected.problem(seen) and self._open_ended:
            self._fetch()
            seen = Seen.of(self.part)
        if self.expected.problem(seen) and self._resumed:
            self.part.unlink()
            self._resumed = False
            self._fetch()
            seen = Seen.of(self.part)
        if problem := self.expected.problem(seen):
            self.part.unlink()
            raise SourceError(problem)
        return seen

    def _fetch(self) -> None:
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            stop=tenacity.stop_after_attempt(self.patience.attempts),
            wait=self._pause,
            before_sleep=self._tell_retry,
            reraise=True,
        )
        while True:
            before, since = _size(self.part), time.monotonic()
            try:
                return retrying(self._get)
            except SlowError:
                raise
            except TransientError:
                # a source that breaks off often is worth asking again as long as what it gives adds up
                least = max(_LEAST_GAIN, self.patience.slowest * (time.monotonic() - since))
                if _size(self.part) - before < least:
                    raise

    def _pause(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next request: growing, and no fewer than the source asked for."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait if isinstance(error, TransientError) else 0.0
        growing = self.patience.wait * 2.0 ** (state.attempt_number - 1)
        return max(asked, min(growing, self.patience.longest_wait))

    def _tell_retry(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        print(
            f"download: {self.source}: {error}; asking again in {state.upcoming_sleep:.0f} s", file=sys.stderr
        )

    def _get(self) -> None:
        """One request for what is still missing of the part."""
        begin = _size(self.part)
        if self.expected.bytes is not None and begin >= self.expected.bytes:
            return
        # no encoding on the way: the file's own bytes count, and some servers announce .tgz as encoded
        headers = {"Accept-Encoding": "identity"}
        if begin and not self.expected.has_checksum:
            # without a checksum nobody would notice two versions joined
            begin = begin if self._version.validator else 0
            headers |= {"If-Range": self._version.validator} if self._version.validator else {}
        headers |= {"Range": f"bytes={begin}-"} if begin else {}
        timeout = (self.patience.connect, self.patience.silence)
        self._resumed = self._resumed or begin > 0
        with Session() as session, answer(session, self.source, headers, timeout) as response:
            if response.status_code == 416 and begin:
                self._beyond_the_end(response, begin)
            else:
                self._receive(response, self._begin(response, begin))

    def _beyond_the_end(self, response: requests.Response, begin: int) -> None:
        """The server has no byte after the part: it is complete, or longer than what the server has."""
        if response.headers.get("Content-Range", "").strip() != f"bytes */{begin}":
            self.part.unlink(missing_ok=True)
            raise TransientError("the server has fewer bytes than came before")

    def _begin(self, response: requests.Response, begin: int) -> int:
        """Position at which the body begins."""
        check_status(response, self.patience.longest_asked)
        version = Version.of(response)
        if response.status_code == 200:
            self._version = version
            return 0
        if range_begin(response) != begin:
            self.part.unlink(missing_ok=True)
            shown = response.headers.get("Content-Range", "")[:60]
            raise TransientError(f"asked for the bytes from {begin}, it sends {shown}")
        if not self.expected.has_checksum and version.differs(self._version):
            self.part.unlink(missing_ok=True)
            raise TransientError("the server has another version of it than before")
        return begin

    def _receive(self, response: requests.Response, begin: int) -> None:
        announced = announced_bytes(response, begin)
        if self.expected.bytes is not None and announced not in (None, self.expected.bytes):
            raise SourceError(f"{announced} bytes, expected {self.expected.bytes}")
        total = self.expected.bytes if announced is None else announced
        self._open_ended = total is None
        _check_disk(self.part, (total or 0) - _size(self.part))
        self._write(self._body(response), total, begin)
        size = self.part.stat().st_size
        if total is not None and (size < total or (announced is not None and size != announced)):
            raise TransientError(f"broke off after {size} of {total} bytes")

    def _body(self, response: requests.Response) -> Iterator[bytes]:
        """What arrives, as it arrives."""
        received, since = 0, time.monotonic()
        try:
            while data := response.raw.read1(CHUNK, decode_content=False):
                yield data
                received += len(data)
                seconds = time.monotonic() - since
                if seconds >= self.patience.silence:
                    if received < self.patience.slowest * seconds:
                        raise SlowError(f"only {received} bytes in {seconds:.0f} s")
                    received, since = 0, time.monotonic()
        except urllib3.exceptions.ReadTimeoutError:
            raise SlowError(f"no byte in {self.patience.silence:.0f} s") from None
        except (OSError, urllib3.exceptions.HTTPError) as error:
            raise TransientError(f"broke off ({reason(error)})") from None

    def _write(self, chunks: Iterator[bytes], total: int | None, begin: int) -> None:
        name = re.sub(r"(\.\d+)?\.part$", "", self.part.name)
        with (
            disk_full(self.part),
            self.part.open("r+b" if begin else "wb") as output,
            Progress(total, "bytes", f"download {name}", before=begin) as progress,
        ):
            position = output.seek(begin)
            for chunk in chunks:
                position += output.write(chunk)
                if total is None and position // _WATCHED != (position - len(chunk)) // _WATCHED:
                    _check_disk(self.part, LEAST_FREE)
                if total is not None and position > total:
                    self.part.unlink()
                    raise SourceError(f"more than the {total:,} bytes expected")
                progress.update(len(chunk))


@contextmanager
def _mirror_errors() -> Iterator[None]:
    """A file of a mirror that cannot be read is that mirror's failure; the next source may have it."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror or error})") from None


def _chunks(path: Path) -> Iterator[bytes]:
    with _mirror_errors(), path.open("rb") as file:
        while data := file.read(CHUNK):
            yield data


def _cloned(path: Path, copy: Path) -> bool:
    """Copy a file without taking room for it, where the file system can.

    Not by a link: the workflow sets the times of what a job has made, which would be those of the user's own file,
    and a file that is changed in place would change under us after its checksums were.
    """
    with _mirror_errors():
        source = path.open("rb")
    with source, copy.open("wb") as target:
        try:
            fcntl.ioctl(target, _FICLONE, source.fileno())
            return True
        except OSError:
            copy.unlink()
            return False


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_disk(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise UserError(
            f"{part.parent}: {free:,} bytes free, {needed:,} needed for {part.name.removesuffix('.part')}; "
            "make room or take another disk"
        )
