"""Whether archives can be had: from a folder, or from a server that answers when asked for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from nmt.config.schema import Archive

SECONDS = 5.0
"""To connect and to answer: a look before the start, not the download, which is patient."""


def unreachable(archives: Iterable[Archive], mirrors: Sequence[str]) -> list[str]:
    """A line for each archive that no source can give, with what the sources said."""
    wanted = list(archives)
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [line for line in pool.map(lambda archive: _problem(archive, mirrors), wanted) if line]


def _problem(archive: Archive, mirrors: Sequence[str]) -> str | None:
    said = []
    for place in _places(archive, mirrors):
        problem = _refusal(place)
        if problem is None:
            return None
        said.append(f"{place}: {problem}")
    return f"{archive.path}: no source gives it ({'; '.join(said)})"


def _places(archive: Archive, mirrors: Sequence[str]) -> Iterator[str]:
    """Where the file may be, and then where others with the same members may be; mirrors first."""
    for source in (archive, *archive.alternatives):
        yield from (_under(mirror, source.path) for mirror in mirrors)
        yield source.url


def _under(mirror: str, path: str) -> str:
    return f"{mirror.rstrip('/')}/{quote(path) if _is_web(mirror) else path}"


def _is_web(source: str) -> bool:
    return urlsplit(source).scheme in ("http", "https")


def _unreadable(path: Path) -> str | None:
    try:
        if not path.is_file():
            return "no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None if os.access(path, os.R_OK) else "cannot be read (no permission)"


def _refusal(source: str) -> str | None:
    """Why a source cannot give its file; None if it can, as far as asking tells."""
    if not _is_web(source):
        parts = urlsplit(source)
        path = Path(unquote(parts.path) if parts.scheme == "file" else source)
        return _unreadable(path)
    import requests  # half a second: only where it is needed

    try:
        answer = requests.head(source, timeout=SECONDS, allow_redirects=True)
    except requests.RequestException as error:
        return f"no answer ({type(error).__name__})"
    # what refuses only the method, or is busy for a moment, is there
    return f"status {answer.status_code}" if answer.status_code in (401, 403, 404, 410) else None
