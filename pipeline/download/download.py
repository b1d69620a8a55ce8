"""Downloads of archives from mirrors, their official address or other archives, with checks and resumption."""

import hashlib
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from nmt.errors import UserError, printable
from nmt.io.files import commit_file, full_disk_as_user_error, sha256, write_json
from nmt.io.progress import Progress
from pipeline.config.catalogue import Archive, Source, hide_secrets

CHUNK_BYTES = 1 << 18
BUSY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses after which a request is repeated."""
ATTEMPTS = 5
"""Requests in a row without an answer, or without new bytes, after which the next source is tried."""
MIN_WAIT, MAX_WAIT = 1.0, 60.0
"""Seconds of the first pause between two requests, and of the longest one. Each pause is twice as long as the one
before; a server may ask for a pause between these limits."""
CONNECT_TIMEOUT, READ_TIMEOUT = 30.0, 60.0
"""Seconds to wait for a connection, and for the next byte."""
_MAX_REASON_CHARACTERS = 200
"""Maximum length of a server's text in a message."""


class SourceError(Exception):
    """One source did not give the file; the next source may."""

    def __str__(self) -> str:
        return printable(super().__str__()[:_MAX_REASON_CHARACTERS])


class BrokenOffError(SourceError):
    """The connection ended before the file did; the same source may give the rest."""


Checksums = dict[str, int | str]
"""Size and checksums of a file: `bytes`, `md5`, `sha256`. A source has attributes of these names."""


def read_checksums(path: Path) -> Checksums:
    """Read a file, and return its size and checksums."""
    with path.open("rb") as file:
        md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
    return {"bytes": path.stat().st_size, "md5": md5.hexdigest(), "sha256": sha256(path)}


def _find_mismatch(checksums: Checksums, source: Source) -> str | None:
    """Return how a file differs from the known size and checksums of its source, or None if it does not."""
    if not checksums["bytes"] and not _has_checksum(source):
        return "an empty file"
    for name, value in checksums.items():
        expected_value = getattr(source, name)
        if expected_value is not None and expected_value != value:
            return f"{name}: {value}, expected {expected_value}"
    return None


def _has_checksum(source: Source) -> bool:
    """Return whether the checksum of a source is known, which would show wrong bytes."""
    return source.md5 is not None or source.sha256 is not None


def download_file(archive: Archive, output: Path, mirrors: Sequence[str] = ()) -> str:
    """Download an archive from the first location that has all of it, and return that location, without secrets.

    An interrupted download lies in `output`.part. The next call resumes it if a checksum is known, which would show
    wrong bytes, and otherwise starts again.

    `output`.json records the location, the size and the checksums of the file, and which of them were compared.

    Args:
        archive: address, path under a mirror and checksums. Its `alternatives` are tried after it, in the same way.
        output: the downloaded file.
        mirrors: folders or URL prefixes that hold the file under its `path`; they are tried before its address.

    Raises:
        UserError: no location gave the file, or the disk has no room for it.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    # the partial file of each source
    candidates: dict[Path, Source] = {output.with_name(f"{output.name}.part"): archive}
    for number, alternative in enumerate(archive.alternatives, start=1):
        candidates[output.with_name(f"{output.name}.{number}.part")] = alternative

    problems: list[str] = []
    for partial_file, candidate in candidates.items():
        # Without a checksum, nothing would show that an earlier part belongs to a different file.
        if not _has_checksum(candidate):
            partial_file.unlink(missing_ok=True)
        for location in _list_locations(candidate, mirrors):
            try:
                checksums = _Transfer(location, partial_file, candidate).complete()
            except SourceError as error:
                problems.append(f"{hide_secrets(location)}: {error}")
                if not _has_checksum(candidate):
                    partial_file.unlink(missing_ok=True)
                continue

            if not _has_checksum(candidate):
                print(f"{output}: no checksum known; its sha256 is {checksums['sha256']}", file=sys.stderr)
            commit_file(partial_file, output)
            for other_partial_file in candidates:
                other_partial_file.unlink(missing_ok=True)

            # the record next to the file; attributes of a source are None if unknown
            compared_names = [name for name in checksums if getattr(candidate, name) is not None]
            record = {"source": hide_secrets(location), "checked": compared_names, **checksums}
            write_json(output.with_name(f"{output.name}.json"), record)
            return hide_secrets(location)
    raise UserError(f"{output}: no source gave the file; check network, checksums and mirrors", *problems)


def _list_locations(source: Source, mirrors: Sequence[str]) -> Iterator[str]:
    """Yield the paths and URLs under which a file may be: its `path` under each mirror, then its official address."""
    for mirror in mirrors:
        path = quote(source.path) if "://" in mirror else source.path
        yield f"{mirror.rstrip('/')}/{path}"
    yield source.url


@dataclass(frozen=True)
class _Transfer:
    """The transfer of one file from one location to a partial file next to its output."""

    location: str
    partial_file: Path
    source: Source

    def complete(self) -> Checksums:
        """Complete and check the partial file. If it came in parts and is wrong, the whole file is requested again."""
        mismatch: str | None = None
        local_path = self._local_path()
        for _ in range(2):
            came_in_parts = False
            if local_path:
                self._copy(local_path)
            else:
                came_in_parts = self._fetch()

            checksums = read_checksums(self.partial_file)
            mismatch = _find_mismatch(checksums, self.source)
            if mismatch is None:
                return checksums

            # If the first bytes came earlier, they may be those of an older version of the file.
            self.partial_file.unlink()
            if not came_in_parts:
                break
        raise SourceError(mismatch)

    def _local_path(self) -> Path | None:
        """Return the path if the location is on this machine, or None if it is on the web."""
        address = urlsplit(self.location)
        if address.scheme in ("http", "https"):
            return None
        return Path(unquote(address.path) if address.scheme == "file" else self.location)

    def _copy(self, path: Path) -> None:
        """Copy a file of this machine, always from its beginning.

        A link instead of a copy would have two disadvantages. Snakemake sets the times of a job's outputs, and so would
        change the times of the user's file. And if the user changed the file, the archive would change after its
        checksums were compared.
        """
        try:
            with full_disk_as_user_error(self.partial_file):
                shutil.copyfile(path, self.partial_file)
        except OSError as error:
            raise SourceError(f"cannot be read ({error.strerror or error})") from None

    def _fetch(self) -> bool:
        """Request the missing bytes until the file is complete. Return whether the file came in several parts.

        If the connection breaks off, the request is repeated until the partial file has not grown beyond its largest
        size so far in several attempts. So a source that begins at byte 0 each time, and always breaks off at the same
        byte, is given up.
        """
        came_in_parts = self.partial_file.exists()
        largest_size = self._size()
        failed_attempts = 0  # in a row
        with _open_session() as session:
            while True:
                try:
                    self._request_rest(session)
                    return came_in_parts
                except BrokenOffError as error:
                    came_in_parts = True
                    # an attempt without new bytes has failed
                    size = self._size()
                    failed_attempts = 0 if size > largest_size else failed_attempts + 1
                    largest_size = max(largest_size, size)
                    if failed_attempts == ATTEMPTS:
                        raise
                    print(f"download: {hide_secrets(self.location)}: {error}; asking again", file=sys.stderr)
                # the shortest pause follows an attempt with new bytes, which may have been only a few
                time.sleep(min(MAX_WAIT, MIN_WAIT * 2**failed_attempts))

    def _size(self) -> int:
        """Return the bytes of the partial file."""
        return self.partial_file.stat().st_size if self.partial_file.exists() else 0

    def _request_rest(self, session: requests.Session) -> None:
        """Make one request for the missing bytes, or for the whole file if no checksum would show wrong bytes.

        Raises:
            BrokenOffError: the connection ended early; a further request may complete the file.
            SourceError: this source does not have the file.
        """
        start = self._size() if _has_checksum(self.source) else 0
        size = self.source.bytes
        if size is not None and start >= size:
            return
        with self._send_request(session, start) as response:
            if response.status_code == 416 and start:
                return  # no bytes are left; the checksum tells whether the partial file is right
            if response.status_code == 200:
                start = 0  # the server sends the whole file
            elif response.status_code != 206 or not start:
                raise SourceError(f"HTTP {response.status_code} {response.reason}")
            elif not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                # Other bytes would make the partial file grow without end if each request ends early.
                self.partial_file.unlink(missing_ok=True)
                raise BrokenOffError("not the range that was requested")

            # the announced size, if there is one
            length = response.raw.length_remaining
            announced_size = None if length is None else start + length
            if size is not None and announced_size not in (size, None):
                raise SourceError(f"{announced_size} bytes, expected {size}")
            self._write(_read_body(response), size or announced_size, start)
        if size is not None and self._size() < size:
            raise BrokenOffError(f"broke off after {self._size()} of {size} bytes")

    def _send_request(self, session: requests.Session, start: int) -> requests.Response:
        """Return the response to a request for the bytes from `start` on."""
        # Checksums are of the file's own bytes, so the server must not encode them for the transfer. Some servers would
        # announce a .tgz as an encoded .tar.
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        try:
            timeout = (CONNECT_TIMEOUT, READ_TIMEOUT)
            return session.get(self.location, headers=headers, stream=True, timeout=timeout)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise SourceError(hide_secrets(_describe_cause(error))) from None

    def _write(self, chunks: Iterable[bytes], total: int | None, start: int) -> None:
        """Write chunks to the partial file from byte `start` on. Raise a SourceError if they exceed the total size."""
        with (
            full_disk_as_user_error(self.partial_file),
            self.partial_file.open("r+b" if start else "wb") as output,
            Progress(total, "bytes", f"download {self.partial_file.stem}", initial_count=start) as progress,
        ):
            position = output.seek(start)
            for chunk in chunks:
                position += output.write(chunk)
                if total is not None and position > total:
                    self.partial_file.unlink()
                    raise SourceError(f"more than the {total:,} bytes expected")
                progress.update(len(chunk))


def _open_session() -> requests.Session:
    """Return a session that repeats a request if the network fails or the server is busy."""
    retry = urllib3.Retry(
        ATTEMPTS - 1,  # repetitions after the first request
        status_forcelist=BUSY_STATUSES,
        backoff_factor=MIN_WAIT,
        backoff_max=MAX_WAIT,
        retry_after_max=int(MAX_WAIT),
        raise_on_status=False,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _read_body(response: requests.Response) -> Iterator[bytes]:
    """Yield the bytes of a response as they arrive."""
    try:
        while chunk := response.raw.read1(CHUNK_BYTES, decode_content=False):
            yield chunk
    except (OSError, urllib3.exceptions.HTTPError) as error:
        raise BrokenOffError(f"broke off ({_describe_cause(error)})") from None


def _describe_cause(error: Exception) -> str:
    """Return the text of the error that caused a network error, such as "[Errno 111] Connection refused"."""
    # libraries wrap the error several times: it is the context or an argument of the next error
    for cause in (error.__context__, *error.args):
        if isinstance(cause, Exception):
            return _describe_cause(cause)
    # the text may be a line that a server has sent, with its line end
    return str(error).strip() or type(error).__name__
