"""Transfer of one file from one source, a folder or a server, with checks and resumption."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import requests
import urllib3
from requests.adapters import HTTPAdapter

from nmt.errors import UserError, printable
from nmt.io.files import disk_full
from nmt.io.progress import Progress
from pipeline.config.catalogue import public

CHUNK = 1 << 18
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which a server is asked again."""
_LEAST_GAIN = 1 << 16
"""Bytes that a connection must bring before it breaks off, or else it counts as an attempt that failed."""
_SHOWN = 200
"""Characters of what a server said that a message holds."""


class SourceError(Exception):
    """One source did not give the file; the next one may."""

    def __str__(self) -> str:
        return printable(super().__str__()[:_SHOWN])


class BrokenOffError(SourceError):
    """The connection ended before the file did; the same source may give the rest."""


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
        """Return whether wrong bytes would be noticed."""
        return self.md5 is not None or self.sha256 is not None

    @property
    def known(self) -> list[str]:
        """Return names of what is known."""
        return [name for name, value in asdict(self).items() if value is not None]

    def problem(self, seen: Seen) -> str | None:
        """Return what is wrong with a file, or None."""
        if not seen.bytes and not self.has_checksum:
            return "an empty file"
        if self.bytes is not None and seen.bytes != self.bytes:
            return f"{seen.bytes} bytes, expected {self.bytes}"
        for algorithm, expected in (("md5", self.md5), ("sha256", self.sha256)):
            if expected is not None and (found := getattr(seen, algorithm)) != expected:
                return f"{algorithm} is {found}, expected {expected}"
        return None


@dataclass(frozen=True)
class Patience:
    """How often a source that gives nothing is asked, and how long it is waited for, in seconds.

    attempts: requests in a row without an answer, and connections in a row that break off at once; wait: the first
    pause, which doubles up to `longest_wait` (a server may ask for a longer one than the first, but for none beyond the
    longest); connect: to get a connection; silence: without a byte.
    """

    attempts: int = 5
    wait: float = 1.0
    longest_wait: float = 60.0
    connect: float = 30.0
    silence: float = 60.0

    def session(self) -> requests.Session:
        """Return a session whose requests are repeated while the network fails or the server is busy."""
        retry = urllib3.Retry(
            self.attempts - 1,
            status_forcelist=BUSY,
            backoff_factor=self.wait,
            backoff_max=self.longest_wait,
            retry_after_max=int(self.longest_wait),
            raise_on_status=False,
        )
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry))
        return session


class Transfer:
    """One file from one source, to a part beside its output."""

    def __init__(self, source: str, part: Path, expected: Expected, patience: Patience) -> None:
        self.source = source
        self.part = part
        self.expected = expected
        self.patience = patience

    # --- from a folder

    def from_folder(self, path: Path) -> Seen:
        """Copy a file of this machine, always from the beginning; what is known of it is checked first.

        A link would not do: the workflow sets the times of what a job has made, which would be those of the user's own
        file, and a file that is changed in place would change under us after its checksums were compared.
        """
        with _mirror_errors():
            if not path.is_file():
                raise SourceError("no such file")
            seen = Seen.of(path)
        if problem := self.expected.problem(seen):
            raise SourceError(problem)
        self.part.unlink(missing_ok=True)
        _check_disk(self.part, seen.bytes)
        self._write(_chunks(path), seen.bytes, 0)
        return seen

    # --- from a server

    def from_web(self) -> Seen:
        """Complete the part and check it; wrong bytes that came in pieces are asked for anew, once."""
        in_pieces = self._fetch()
        problem = self.expected.problem(seen := Seen.of(self.part))
        if problem and in_pieces:
            self.part.unlink()
            self._fetch()
            problem = self.expected.problem(seen := Seen.of(self.part))
        if problem:
            self.part.unlink()
            raise SourceError(problem)
        return seen

    def _fetch(self) -> bool:
        """Ask for the rest of the part until it is there. Return whether it came in pieces.

        A source that breaks off often is worth asking again as long as it gives something.
        """
        in_pieces, left = self.part.exists(), self.patience.attempts
        with self.patience.session() as session:
            while True:
                before = _size(self.part)
                try:
                    self._get(session)
                    return in_pieces
                except BrokenOffError as error:
                    in_pieces = True
                    gained = _size(self.part) - before >= _LEAST_GAIN
                    left = self.patience.attempts if gained else left - 1
                    if not left:
                        raise
                    print(f"download: {public(self.source)}: {error}; asking again", file=sys.stderr)

    def _get(self, session: requests.Session) -> None:
        """Make one request for what the part lacks: without a checksum, which shows wrong bytes, for the whole file."""
        begin = _size(self.part) if self.expected.has_checksum else 0
        size = self.expected.bytes
        if size is not None:
            if begin >= size:
                return
            _check_disk(self.part, size - begin)
        with self._answer(session, begin) as response:
            if response.status_code == 416 and begin:
                return  # the server has no byte after the part: its checksum tells whether it is complete
            if response.status_code not in (200, 206):
                raise SourceError(f"HTTP {response.status_code} {response.reason}")
            if response.status_code == 206:
                found = response.headers.get("Content-Range", "")
                if not begin or not found.startswith(f"bytes {begin}-"):
                    self.part.unlink(missing_ok=True)
                    raise BrokenOffError(f"sent another part than was asked for ({found or 'no range'})")
            else:
                begin = 0
            length = response.headers.get("Content-Length", "")
            announced = begin + int(length) if re.fullmatch(r"\d{1,18}", length) else None
            if size is not None and announced not in (None, size):
                raise SourceError(f"{announced} bytes, expected {size}")
            _check_disk(self.part, (announced or 0) - begin)
            self._write(_body(response), size or announced, begin)
        if size is not None and _size(self.part) < size:
            raise BrokenOffError(f"broke off after {_size(self.part)} of {size} bytes")

    def _answer(self, session: requests.Session, begin: int) -> requests.Response:
        # no encoding on the way: the file's own bytes count, and some servers announce .tgz as encoded
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begin}-"} if begin else {})
        timeout = (self.patience.connect, self.patience.silence)
        try:
            return session.get(self.source, headers=headers, stream=True, timeout=timeout)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise SourceError(public(self.source, _reason(error))) from None

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
                if total is not None and position > total:
                    self.part.unlink()
                    raise SourceError(f"more than the {total:,} bytes expected")
                progress.update(len(chunk))


def _body(response: requests.Response) -> Iterator[bytes]:
    """Yield what arrives, as it arrives."""
    try:
        while data := response.raw.read1(CHUNK, decode_content=False):
            yield data
    except (OSError, urllib3.exceptions.HTTPError) as error:
        raise BrokenOffError(f"broke off ({_reason(error)})") from None


def _reason(error: Exception) -> str:
    """Return the innermost reason of a network error: the outer ones repeat it with addresses of objects."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    inner = getattr(error, "reason", None)
    if isinstance(inner, Exception):
        return _reason(inner)
    return re.sub(r"^\W*HTTPS?Connection\w*\(.*?\)\W*", "", str(error)) or type(error).__name__


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


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_disk(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise UserError(
            f"{part.parent}: {free:,} bytes free, {needed:,} needed for {part.name.removesuffix('.part')}; "
            "make room or take another disk"
        )
