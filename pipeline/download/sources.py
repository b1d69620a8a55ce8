"""The sources of an archive: mirrors, the official address, other archives; and whether they have it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from pipeline.config.catalogue import Archive, public

SECONDS = 5.0
"""Time limit for an answer. This is a check before the start; downloads are more patient."""


def places(url: str, path: str | None, mirrors: Sequence[str]) -> Iterator[str]:
    """Yield where a file may be: under each mirror (a folder or URL prefix) at its `path` there, then at `url`."""
    for mirror in mirrors if path is not None else ():
        place = quote(path or "") if "://" in mirror else path
        yield f"{mirror.rstrip('/')}/{place}"
    yield url


def local_path(source: str) -> Path | None:
    """Return the path of a source on this machine; None for one on the web."""
    try:
        parts = urlsplit(source)
    except ValueError:  # a bracket that is no IPv6 address: whoever asks for it says so
        return None if source.lower().startswith(("http:", "https:")) else Path(source)
    if parts.scheme in ("http", "https"):
        return None
    return Path(unquote(parts.path) if parts.scheme == "file" else source)


def unreachable(archives: Iterable[Archive], mirrors: Sequence[str]) -> list[str]:
    """Return a line for each archive that no source can give, with what the sources said."""
    wanted = list(archives)
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [line for line in pool.map(lambda archive: _problem(archive, mirrors), wanted) if line]


def _problem(archive: Archive, mirrors: Sequence[str]) -> str | None:
    said = []
    for source in (archive, *archive.alternatives):
        for place in places(source.url, source.path, mirrors):
            problem = _refusal(place)
            if problem is None:
                return None
            said.append(f"{public(place)}: {problem}")
    return f"{archive.path}: no source gives it ({'; '.join(said)})"


def _refusal(source: str) -> str | None:
    """Return why a source cannot give its file; None if it can, as far as asking tells."""
    if path := local_path(source):
        return _unreadable(path)
    import requests  # half a second: only where it is needed

    try:
        answer = requests.head(source, timeout=SECONDS, allow_redirects=True)
    except (requests.RequestException, ValueError) as error:
        return f"no answer ({type(error).__name__})"
    # what refuses only the method, or is busy for a moment, is there
    return f"status {answer.status_code}" if answer.status_code in (401, 403, 404, 410) else None


def _unreadable(path: Path) -> str | None:
    try:
        if not path.is_file():
            return "no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None if os.access(path, os.R_OK) else "cannot be read (no permission)"
