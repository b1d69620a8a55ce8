"""The sources of an archive: mirrors, then the official address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit


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
