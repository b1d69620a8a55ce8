"""What a server answers: after redirects, which version of a file, how much of it; and why a source gave none."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin

import requests
import urllib3
from requests.utils import requote_uri

from nmt.errors import printable

REDIRECTS = 10
RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_NUMBER = re.compile(r"\d{1,19}")
_SHOWN = 200
"""Characters of what a server said that a message holds."""


class SourceError(Exception):
    """One source did not give the file; the next one may."""

    def __str__(self) -> str:
        return printable(super().__str__()[:_SHOWN])


class TransientError(SourceError):
    """The same source may give the file when asked again, after `wait` seconds if it said so."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class SlowError(TransientError):
    """The source gives next to nothing: what little came is no reason to keep asking it."""


@dataclass(frozen=True)
class Version:
    """What tells one version of a file on a server from another, as far as the server says (RFC 9110, 8.8)."""

    etag: str | None = None
    modified: str | None = None

    @classmethod
    def of(cls, response: requests.Response) -> Version:
        """The version that an answer holds."""
        return cls(response.headers.get("ETag"), response.headers.get("Last-Modified"))

    @property
    def validator(self) -> str | None:
        """What `If-Range` may carry: a strong ETag, or else the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified

    def differs(self, other: Version) -> bool:
        """Whether both say something, and not the same."""
        pairs = ((self.etag, other.etag), (self.modified, other.modified))
        return any(mine is not None and theirs is not None and mine != theirs for mine, theirs in pairs)


class Session(requests.Session):
    """Leaves redirects to `answer`: requests reads the bodies of such answers, however long."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None, as of an answer that leads nowhere."""
        return None


def answer(
    session: Session, source: str, headers: dict[str, str], timeout: tuple[float, float]
) -> requests.Response:
    """The answer at the end of a source's redirects, whose own bodies nobody reads.

    Raises:
        SourceError: an address is none, or there are too many.
        TransientError: the network fails.
    """
    address = source
    for _ in range(REDIRECTS + 1):
        with _network_errors():
            response = session.get(
                address, headers=headers, stream=True, timeout=timeout, allow_redirects=False
            )
            target = requests.Session.get_redirect_target(session, response)
            if target is None:
                return response
            response.close()
            address = requote_uri(urljoin(address, target))
    raise SourceError(f"more than {REDIRECTS} redirects")


@contextmanager
def _network_errors() -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # of addresses: requests' own, and those of what it calls
        raise SourceError(f"not a valid URL ({error})") from None
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise TransientError(reason(error)) from None


def reason(error: Exception) -> str:
    """The innermost reason of a network error: the outer ones repeat it with addresses of objects."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    inner = getattr(error, "reason", None)
    return reason(inner) if isinstance(inner, Exception) else f"{type(error).__name__}: {error}"


def check_status(response: requests.Response, longest_wait: float) -> None:
    """Let answers with a body pass.

    Raises:
        TransientError: the server is busy.
        SourceError: it refuses, or is busy for longer than `longest_wait` seconds.
    """
    if response.status_code in (200, 206):
        return
    message = f"HTTP {response.status_code} {response.reason}"
    if response.status_code not in RETRIED_STATUS:
        raise SourceError(message)
    wait = _retry_after(response)
    if wait > longest_wait:
        raise SourceError(f"{message}, to be asked again in {wait:.0f} s")
    raise TransientError(message, wait)


def _retry_after(response: requests.Response) -> float:
    """Seconds that the server asks to wait (as a number or a date); 0 if it does not say."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value[:20])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def range_begin(response: requests.Response) -> int | None:
    """Position at which the part of a file begins that an answer holds."""
    found = re.match(rf"bytes ({_NUMBER.pattern})-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def announced_bytes(response: requests.Response, begin: int) -> int | None:
    """Bytes of the whole file, where an answer with the bytes from `begin` says so.

    Raises:
        SourceError: it says so with a number that no file has.
    """
    length = response.headers.get("Content-Length", "")
    if length.isdecimal():
        if not _NUMBER.fullmatch(length):
            raise SourceError(f"a Content-Length of {len(length)} digits")
        return begin + int(length)
    value = response.headers.get("Content-Range", "").strip()
    found = re.match(rf"bytes \d+-\d+/({_NUMBER.pattern})$", value)
    return int(found[1]) if found and response.status_code == 206 else None
