"""Downloads of archives from mirrors, their official address or other archives, with checks and resumption."""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from nmt.errors import UserError, printable
from nmt.io.files import commit_file, full_disk_as_user_error, write_json
from nmt.io.progress import Progress
from pipeline.config.catalogue import Source, hide_secrets

CHUNK = 1 << 18
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which a server is asked again."""
ATTEMPTS = 5
"""Requests in a row without an answer, or connections that break off at once, after which a source is left."""
WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds of the first pause, which doubles, and of the longest; a server may ask for one in between."""
CONNECT, SILENCE = 30.0, 60.0
"""Seconds in which a connection must come, and without a byte."""
_LEAST_GAIN = 1 << 16
"""Bytes by which the part must grow before a connection breaks off, or else it counts as an attempt that failed."""
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


def _session() -> requests.Session:
    """Return a session whose requests are repeated while the network fails or the server is busy."""
    retry = urllib3.Retry(
        ATTEMPTS - 1,
        status_forcelist=BUSY,
        backoff_factor=WAIT,
        backoff_max=LONGEST_WAIT,
        retry_after_max=int(LONGEST_WAIT),
        raise_on_status=False,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def download_file(
    wanted: Source, output: Path, mirrors: Sequence[str] = (), alternatives: Sequence[Source] = ()
) -> str:
    """Download a file to `output` from the first source that has all of it, and return that source, without secrets.

    Mirrors (folders or URL prefixes that hold the file under its `path`) come first, then its `url`; then the same
    for each of `alternatives`, other archives with the same members. An interrupted download lies in `output`.part; the
    next call resumes it if a checksum would show wrong bytes. `output`.json records the source, the size and the
    checksums seen, and which of them were known before.

    Raises:
        UserError: no source gave the file, or the disk has no room for it.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    files, problems = [wanted, *alternatives], list[str]()
    parts = [output.with_name(f"{output.name}{f'.{n}' if n else ''}.part") for n in range(len(files))]
    for file, part in zip(files, parts, strict=True):
        if not _has_checksum(file):
            part.unlink(missing_ok=True)
        for place in _places(file, mirrors):
            try:
                seen = _Transfer(place, part, file).take()
            except SourceError as error:
                problems.append(f"{hide_secrets(place)}: {error}")
                if not _has_checksum(file):
                    part.unlink(missing_ok=True)
                continue
            if not _has_checksum(file):
                print(f"{output}: no checksum known; its sha256 is {seen.sha256}", file=sys.stderr)
            commit_file(part, output)
            for other in parts:
                other.unlink(missing_ok=True)
            checked = [name for name in asdict(seen) if getattr(file, name) is not None]
            note = {"source": hide_secrets(place), "checked": checked} | asdict(seen)
            write_json(output.with_name(f"{output.name}.json"), note)
            return hide_secrets(place)
    raise UserError(f"{output}: no source gave the file; check network, checksums and mirrors", *problems)


def _places(file: Source, mirrors: Sequence[str]) -> Iterator[str]:
    """Yield where a file may be: under each mirror (a folder or URL prefix) at its `path` there, then at `url`."""
    for mirror in mirrors:
        yield f"{mirror.rstrip('/')}/{quote(file.path) if '://' in mirror else file.path}"
    yield file.url


def _local_path(place: str) -> Path | None:
    """Return the path of a place on this machine; None for one on the web."""
    parts = urlsplit(place)
    if parts.scheme in ("http", "https"):
        return None
    return Path(unquote(parts.path) if parts.scheme == "file" else place)


def _has_checksum(file: Source) -> bool:
    """Return whether wrong bytes would be noticed."""
    return file.md5 is not None or file.sha256 is not None


def _problem(wanted: Source, seen: Seen) -> str | None:
    """Return what is wrong with a file, or None."""
    if not seen.bytes and not _has_checksum(wanted):
        return "an empty file"
    for name, found in asdict(seen).items():
        if (expected := getattr(wanted, name)) not in (None, found):
            return f"{name}: {found}, expected {expected}"
    return None


class _Transfer:
    """One file from one place, to a part beside its output."""

    def __init__(self, place: str, part: Path, wanted: Source) -> None:
        self.place = place
        self.part = part
        self.wanted = wanted

    def take(self) -> Seen:
        """Complete the part and check it. Wrong bytes that came in pieces are asked for anew, once."""
        problem: str | None = None
        path = _local_path(self.place)
        for _ in range(2):
            in_pieces = self._copy(path) if path else self._fetch()
            seen = Seen.of(self.part)
            problem = _problem(self.wanted, seen)
            if problem is None:
                return seen
            self.part.unlink()
            if not in_pieces:
                break
        raise SourceError(problem)

    def _copy(self, path: Path) -> bool:
        """Copy a file of this machine, always from the beginning. It comes in one piece.

        A link would not do: the workflow sets the times of what a job has made, which would be those of the user's own
        file, and a file that is changed in place would change under us after its checksums were compared.
        """
        if not path.is_file():
            raise SourceError("no such file")
        try:
            with path.open("rb") as file:
                self._write(iter(partial(file.read, CHUNK), b""), path.stat().st_size, 0)
        except OSError as error:
            raise SourceError(f"cannot be read ({error.strerror or error})") from None
        return False

    def _fetch(self) -> bool:
        """Ask for the rest of the part until it is there. Return whether it came in pieces.

        A source that breaks off often is worth asking again as long as it gives something new. One that begins again
        at byte 0 each time, and breaks off before the part's greatest size so far, gives nothing new.
        """
        in_pieces = self.part.exists()
        largest_size = _size(self.part)
        failed_attempts = 0
        with _session() as session:
            while True:
                try:
                    self._get(session)
                    return in_pieces
                except BrokenOffError as error:
                    in_pieces = True
                    size = _size(self.part)
                    failed_attempts = 0 if size >= largest_size + _LEAST_GAIN else failed_attempts + 1
                    largest_size = max(largest_size, size)
                    if failed_attempts == ATTEMPTS:
                        raise
                    print(f"download: {hide_secrets(self.place)}: {error}; asking again", file=sys.stderr)
                if failed_attempts:
                    time.sleep(min(LONGEST_WAIT, WAIT * 2 ** (failed_attempts - 1)))

    def _get(self, session: requests.Session) -> None:
        """Make one request for what the part lacks: without a checksum, which shows wrong bytes, for the whole file."""
        begin = _size(self.part) if _has_checksum(self.wanted) else 0
        size = self.wanted.bytes
        if size is not None and begin >= size:
            return
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
            self._write(_body(response), size or announced, begin)
        if size is not None and _size(self.part) < size:
            raise BrokenOffError(f"broke off after {_size(self.part)} of {size} bytes")

    def _answer(self, session: requests.Session, begin: int) -> requests.Response:
        # no encoding on the way: the file's own bytes count, and some servers announce .tgz as encoded
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begin}-"} if begin else {})
        try:
            return session.get(self.place, headers=headers, stream=True, timeout=(CONNECT, SILENCE))
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise SourceError(hide_secrets(self.place, _reason(error))) from None

    def _write(self, chunks: Iterable[bytes], total: int | None, begin: int) -> None:
        name = re.sub(r"(\.\d+)?\.part$", "", self.part.name)
        with (
            full_disk_as_user_error(self.part),
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


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
