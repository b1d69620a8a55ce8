"""Files that appear whole or not at all, their checksums, and JSON."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nmt.errors import UserError, errors_as_user_error

_DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")
"""Names of open files of any kind. Such a file is never replaced, since its content may be needed."""
_DAY = 86400
_own_names: set[str] = set()
"""Names of the temporary files and folders that threads of this process use."""


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`. If the block ends without an error, its file is renamed to `path`.

    The content is on the disk (fsync) before the renaming. If the block raises, the temporary file is removed and an
    earlier `path` does not change. The temporary name keeps the suffix, since some libraries depend on it.

    If `path` is a link, its target is replaced. If `path` cannot be replaced, `path` itself is yielded.

    Raises:
        UserError: the disk is full.
    """
    path = Path(path)
    if not is_replaceable(path):
        with full_disk_as_user_error(path):
            yield path
        return
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with _temporary_name(path.parent, f".{path.name}.", f".part{path.suffix}") as temporary:
        try:
            with full_disk_as_user_error(path):
                yield temporary
                commit_file(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def temporary_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Provide a folder in `parent` until the block ends."""
    with _temporary_name(parent, prefix) as folder:
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def parse_path(value: object, where: str) -> Path:
    """Return a path given in Python. Raise a UserError that begins with `where` if it is none."""
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise UserError(f"{where}: found {value!r}, expected a path")
    return Path(value)


def is_replaceable(path: str | Path) -> bool:
    """Return whether `path` can be replaced by a file, which is not so for a device, a pipe or standard output."""
    if _DESCRIPTOR.fullmatch(str(path)):
        return False
    try:
        kind = Path(path).stat().st_mode
    except OSError:
        return True
    return stat.S_ISREG(kind) or stat.S_ISDIR(kind)


def require_regular_file(path: str | Path) -> None:
    """Raise a UserError if `path` is a pipe, a socket or a device, whose reading may never begin or never end.

    This is for files that are read as a whole, such as those of a model. Files that are already open (/dev/stdin,
    /dev/fd/3) may be of any kind, since they are named on purpose.
    """
    if not (is_replaceable(path) or _DESCRIPTOR.fullmatch(str(path))):
        raise UserError(f"{path}: a pipe or device, expected a file")


@contextmanager
def full_disk_as_user_error(path: Path) -> Iterator[None]:
    """Turn the system's error about a full disk into a `UserError` that names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise UserError(f"{path}: the disk is full ({error.strerror}); make room and run again") from None
        raise


def commit_file(temporary: Path, path: Path) -> None:
    """Rename a finished file after its bytes are on the disk."""
    _sync(temporary)
    temporary.replace(path)
    _sync(path.parent)


@contextmanager
def _temporary_name(parent: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Yield a new path in `parent`, whose name says which process uses it. First remove the leftovers beside it."""
    parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(parent, prefix, suffix)

    path = parent / f"{prefix}{_host()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"
    _own_names.add(path.name)
    try:
        yield path
    finally:
        _own_names.discard(path.name)


def remove_leftovers(parent: Path, prefix: str, suffix: str, is_locked: bool = False) -> None:
    """Remove temporary files and folders of killed processes, which would only fill the disk.

    Those are the ones of this machine whose process has ended, and those of others that nobody has written for a day.
    is_locked: whether this process holds the lock of the folder; then nobody else writes into it.
    """
    for leftover in parent.glob(f"{glob.escape(prefix)}*{glob.escape(suffix)}"):
        host, process, *_ = [*leftover.name.removeprefix(prefix).split("-"), ""]
        with suppress(FileNotFoundError):  # another process removes it, too
            if is_locked:
                in_use = leftover.name in _own_names
            elif host == _host() and process.isdecimal():
                in_use = is_other_process(int(process)) or leftover.name in _own_names
            else:
                in_use = time.time() - _last_change(leftover) < _DAY
            if not in_use and leftover.is_dir():
                shutil.rmtree(leftover)
            elif not in_use:
                leftover.unlink()


def _last_change(path: Path) -> float:
    """Return the time when a file, or anything in a folder, was last written."""
    return max(item.stat().st_mtime for item in (path, *path.rglob("*")))


def _host() -> str:
    """Return a short name of this machine for the names of temporary files."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def is_other_process(process: int) -> bool:
    """Return whether another process with this number runs on this machine."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return process != os.getpid()


def link_file(source: Path, target: Path) -> None:
    """Make `target` a second name (hard link) of a file, or a copy where the file system has no such links."""
    if target.exists() and target.samefile(source):
        return
    with atomic_path(target) as temporary:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    require_regular_file(path)
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: str | Path, text: str) -> None:
    """Write a file whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as `json_text` has it."""
    write_text(path, format_json(value))


def format_json(value: Any) -> str:
    """Return JSON with sorted keys, so that equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def read_file(path: str | Path) -> bytes:
    """Return the bytes of a file, which is none that may never end."""
    require_regular_file(path)
    with errors_as_user_error(path):
        return Path(path).read_bytes()


def read_json(path: str | Path) -> Any:
    """Read a JSON file."""
    content = read_file(path)
    with errors_as_user_error(path):
        return json.loads(content)
