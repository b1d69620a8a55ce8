"""Archives from mirrors and their official address: checked, resumed, whole or not at all."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote, unquote, urlsplit

import requests
import tenacity
import urllib3

from nmt.errors import UserError
from nmt.files import checksum, commit
from nmt.progress import Progress

CHUNK = 1 << 18
TIMEOUT = (30.0, 60.0)
"""Seconds to connect, seconds without a byte."""

RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class SourceError(Exception):
    """One source did not give the file; the next one may."""


class TransientError(SourceError):
    """The same source may give the file when asked again."""


@dataclass(frozen=True)
class Expected:
    """What is known of the file; what is None is not checked."""

    bytes: int | None = None
    md5: str | None = None
    sha256: str | None = None

    @property
    def has_sum(self) -> bool:
        """Whether wrong bytes would be noticed."""
        return self.md5 is not None or self.sha256 is not None

    def problem(self, path: Path) -> str | None:
        """What is wrong with the file at `path`, or None."""
        size = path.stat().st_size
        if self.bytes is not None and size != self.bytes:
            return f"{size} bytes, expected {self.bytes}"
        for algorithm, expected in (("md5", self.md5), ("sha256", self.sha256)):
            if expected is not None and (found := checksum(path, algorithm)) != expected:
                return f"{algorithm} is {found}, expected {expected}"
        return None


@dataclass(frozen=True)
class Patience:
    """How often a source that gives nothing is asked, and the seconds in between (doubling from `wait`)."""

    attempts: int = 5
    wait: float = 1.0
    longest_wait: float = 60.0


def download(
    url: str,
    output: Path,
    expected: Expected,
    mirrors: Sequence[str] = (),
    path: str | None = None,
    patience: Patience | None = None,
) -> str:
    """Bring the file to `output` from the first source that has it whole; returns that source.

    Mirrors (folders or URL prefixes that hold the file under `path`) come first, then `url`. What arrived
    before a break lies in `output`.part; the next call goes on from it if a sum would show wrong bytes.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f"{output.name}.part")
    if not expected.has_sum:
        part.unlink(missing_ok=True)
    problems = []
    for source in [*_under_mirrors(mirrors, path), url]:
        try:
            _fetch_checked(source, part, expected, patience or Patience())
        except SourceError as error:
            problems.append(f"{source}: {error}")
            if not expected.has_sum:
                part.unlink(missing_ok=True)
            continue
        _tell_unchecked(part, output, expected)
        commit(part, output)
        return source
    raise UserError(
        f"{output}: no source gave the file: {'; '.join(problems)}; check network, sums and mirrors"
    )


def _under_mirrors(mirrors: Sequence[str], path: str | None) -> Iterator[str]:
    if mirrors and path is None:
        raise UserError("download: a mirror needs --path, the file's place under it")
    for mirror in mirrors:
        place = quote(path or "") if _is_web(mirror) else path
        yield f"{mirror.rstrip('/')}/{place}"


def _is_web(source: str) -> bool:
    return urlsplit(source).scheme in ("http", "https")


def _tell_unchecked(part: Path, output: Path, expected: Expected) -> None:
    if not expected.has_sum:
        print(f"{output}: no sum known to check; its sha256 is {checksum(part, 'sha256')}", file=sys.stderr)


def _fetch_checked(source: str, part: Path, expected: Expected, patience: Patience) -> None:
    """Complete `part` from `source` and check it; wrong bytes go, after a resume they are asked for anew."""
    resumed = part.exists()
    _fetch(source, part, expected, patience)
    problem = expected.problem(part)
    if problem and resumed:
        part.unlink()
        _fetch(source, part, expected, patience)
        problem = expected.problem(part)
    if problem:
        part.unlink()
        raise SourceError(problem)


def _fetch(source: str, part: Path, expected: Expected, patience: Patience) -> None:
    if not _is_web(source):
        _copy(source, part, expected)
        return
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(TransientError),
        stop=tenacity.stop_after_attempt(patience.attempts),
        wait=tenacity.wait_exponential(multiplier=patience.wait, max=patience.longest_wait),
        before_sleep=_tell_retry,
        reraise=True,
    )
    while True:
        before = _size(part)
        try:
            return retrying(_get, source, part, expected)
        except TransientError:
            # a slow source that breaks off often is worth asking on as long as it gives something
            if _size(part) <= before:
                raise


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _tell_retry(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    print(f"download: {state.args[0]}: {error}; asking again", file=sys.stderr)


def _copy(source: str, part: Path, expected: Expected) -> None:
    """Copy from a folder, always from the beginning."""
    path = Path(unquote(urlsplit(source).path)) if source.startswith("file://") else Path(source)
    if not path.is_file():
        raise SourceError("no such file")
    total = path.stat().st_size
    _check_disk(part, total)
    with path.open("rb") as file, part.open("wb") as output:
        _pump(iter(lambda: file.read(CHUNK), b""), output, total, 0)


def _get(source: str, part: Path, expected: Expected) -> None:
    """One request for what is still missing of `part`."""
    begin = _size(part)
    if expected.bytes is not None and begin >= expected.bytes:
        return
    with _network_errors():
        # no encoding on the way: the file's own bytes count, and some servers announce .tgz as encoded
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begin}-"} if begin else {})
        with requests.get(source, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code == 416:
                part.unlink()
                raise TransientError("the server has fewer bytes than an earlier source")
            begin = _check_response(response, begin)
            _receive(response, part, begin, expected)


@contextmanager
def _network_errors() -> Iterator[None]:
    try:
        yield
    except requests.exceptions.InvalidURL as error:
        raise SourceError(f"not a valid URL ({error})") from None
    except requests.RequestException as error:
        raise TransientError(_short(error)) from None


def _short(error: Exception) -> str:
    """The innermost reason of a network error: the outer ones repeat it with addresses of objects."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    reason = getattr(error, "reason", None)
    return _short(reason) if isinstance(reason, Exception) else f"{type(error).__name__}: {error}"


def _check_response(response: requests.Response, begin: int) -> int:
    """Position at which the body begins."""
    status = response.status_code
    if status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {begin}-"):
        return begin
    if status == 200:
        return 0
    message = f"HTTP {status} {response.reason}"
    raise (TransientError if status in RETRIED_STATUS else SourceError)(message)


def _receive(response: requests.Response, part: Path, begin: int, expected: Expected) -> None:
    length = response.headers.get("Content-Length", "")
    total = begin + int(length) if length.isdecimal() else None
    if expected.bytes is not None and total is not None and total != expected.bytes:
        raise SourceError(f"{total} bytes, expected {expected.bytes}")
    _check_disk(part, (total or expected.bytes or 0) - begin)
    with part.open("r+b" if begin else "wb") as output:
        output.seek(begin)
        _pump(_body(response), output, total or expected.bytes, begin)
    size = part.stat().st_size
    if total is not None and size != total:
        raise TransientError(f"broke off after {size} of {total} bytes")


def _body(response: requests.Response) -> Iterator[bytes]:
    try:
        yield from response.raw.stream(CHUNK, decode_content=False)
    except (OSError, urllib3.exceptions.HTTPError) as error:
        raise TransientError(f"broke off ({_short(error)})") from None


def _pump(chunks: Iterator[bytes], output: IO[bytes], total: int | None, begin: int) -> None:
    name = Path(cast(str, output.name)).name.removesuffix(".part")
    with Progress(total, "bytes", f"download {name}") as progress:
        progress.update(begin)
        for chunk in chunks:
            output.write(chunk)
            progress.update(len(chunk))


def _check_disk(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise UserError(
            f"{part.parent}: {free:,} bytes free, {needed:,} needed for {part.name.removesuffix('.part')}; "
            "make room or take another disk"
        )
