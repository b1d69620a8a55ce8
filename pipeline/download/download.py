"""Downloads of archives from mirrors, their official address or other archives, with checks and resumption."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import commit, read_json, replaceable, write_json
from nmt.io.locks import open_alone
from pipeline.config.catalogue import public
from pipeline.download.sources import local_path, places
from pipeline.download.transfer import Expected, Patience, SourceError, Transfer


@dataclass(frozen=True)
class File:
    """A file to download: its official address, its place under mirrors, and what is known of it."""

    url: str
    expected: Expected = field(default_factory=Expected)
    path: str | None = None


def download(
    file: File,
    output: Path,
    mirrors: Sequence[str] = (),
    alternatives: Sequence[File] = (),
    patience: Patience | None = None,
) -> str:
    """Download a file to `output` from the first source that has all of it, and return that source, without secrets.

    Mirrors (folders or URL prefixes that hold the file under its `path`) come first, then its `url`; then the same
    for each of `alternatives`, other archives with the same members. An interrupted download lies in `output`.part; the
    next call resumes it if a checksum would show wrong bytes. `output`.json records the source, the size and the
    checksums seen, and which of them were known before.

    Raises:
        UserError: no source gave the file, or the disk has no room for it.
    """
    if not replaceable(output):
        raise UserError(f"{output}: a pipe or device, expected a file")
    files = [file, *alternatives]
    if mirrors and any(each.path is None for each in files):
        raise UserError("download: a mirror needs --path, the file's place under it")
    output.parent.mkdir(parents=True, exist_ok=True)
    before = _time(output)
    lock = output.with_name(f".{output.name}.lock")
    with open_alone(lock):
        try:
            if _time(output) != before:  # while this process waited for another one
                return str(read_json(_note(output))["source"])
            return _download(files, output, mirrors, patience or Patience())
        finally:
            lock.unlink(missing_ok=True)


def _download(files: Sequence[File], output: Path, mirrors: Sequence[str], patience: Patience) -> str:
    problems: list[str] = []
    parts = [output.with_name(f"{output.name}{f'.{n}' if n else ''}.part") for n in range(len(files))]
    for part in parts:
        if part.is_symlink() or not replaceable(part):
            part.unlink()  # somebody's link or pipe: no begun download
    for wanted, part in zip(files, parts, strict=True):
        source = _download_one(wanted, part, output, mirrors, patience, problems)
        if source is not None:
            for other in parts:
                other.unlink(missing_ok=True)
            return source
    raise UserError(f"{output}: no source gave the file; check network, checksums and mirrors", *problems)


def _time(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def _download_one(
    file: File, part: Path, output: Path, mirrors: Sequence[str], patience: Patience, problems: list[str]
) -> str | None:
    """Return the source that gave the file; None, and why in `problems`, if none did."""
    if not file.expected.has_checksum:
        part.unlink(missing_ok=True)
    for source in places(file.url, file.path, mirrors):
        try:
            transfer = Transfer(source, part, file.expected, patience)
            path = local_path(source)
            seen = transfer.from_folder(path) if path else transfer.from_web()
        except SourceError as error:
            problems.append(f"{public(source)}: {error}")
            if not file.expected.has_checksum:
                part.unlink(missing_ok=True)
            continue
        known = file.expected.known
        if not file.expected.has_checksum:
            print(f"{output}: no checksum known; its sha256 is {seen.sha256}", file=sys.stderr)
        commit(part, output)
        shown = public(source)
        write_json(_note(output), {"source": shown, "checked": known} | asdict(seen))
        return shown
    return None


def _note(output: Path) -> Path:
    return output.with_name(f"{output.name}.json")
