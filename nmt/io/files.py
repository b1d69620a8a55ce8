"""Files that are written atomically, temporary files and folders, checksums, and JSON."""

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

from nmt.errors import FULL_DISK_ERRORS, UserError, errors_as_user_error

_OPEN_FILE = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")
"""Names of open files of any kind. Such a file is never replaced, since its content may be needed."""
_SECONDS_PER_DAY = 86400


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path, whose file is renamed to `path` if the block ends without an error.

    Both paths are in the same folder. The content is on the disk (fsync) before the renaming. If the block raises, the
    temporary file is removed and an earlier `path` does not change. The temporary name keeps the suffix, since some
    libraries depend on it.

    If `path` is a link, its target is replaced. If `path` cannot be replaced, `path` itself is yielded. Open it to
    append ("ab"), because standard output may be a file that has lines already.

    Raises:
        UserError: the disk is full, or its file system does not take a file so large.
    """
    path = Path(path)
    if not is_replaceable(path):
        with full_disk_as_user_error(path):
            yield path
        return

    # replace the target of a link, not the link
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    if path.is_dir():  # otherwise, the renaming would fail after hours of work
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = _new_temporary_path(path.parent, f".{path.name}.", f".part{path.suffix}")
    try:
        with full_disk_as_user_error(path):
            yield temporary
            commit_file(temporary, path)
    except BaseException as error:
        # in a folder that cannot be written to, there is no temporary file, and the message names the file itself
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and str(error.filename) == str(temporary):
            error.filename = str(path)
        raise


@contextmanager
def temporary_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder in `parent`, and remove it when the block ends."""
    folder = _new_temporary_path(parent, prefix)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def is_replaceable(path: str | Path) -> bool:
    """Return whether a file can be renamed to `path`. Devices, pipes and standard output cannot be replaced."""
    if _OPEN_FILE.fullmatch(str(path)):
        return False
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def require_regular_file(path: str | Path) -> None:
    """Raise a UserError if `path` is a pipe, a socket or a device, whose reading may never begin or never end.

    This is for files that are read as a whole, such as those of a model. /dev/stdin and /dev/fd/3 are allowed even if
    they are pipes, since a user who gives such a path wants to read from a pipe.
    """
    if not (is_replaceable(path) or _OPEN_FILE.fullmatch(str(path))):
        raise UserError(f"{path}: a pipe or device, expected a file")


@contextmanager
def full_disk_as_user_error(path: Path) -> Iterator[None]:
    """Turn the system's error about a full disk, or a file that is too large, into a `UserError` that names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL_DISK_ERRORS:
            raise UserError(f"{path}: cannot be written: {error.strerror}; make room and run again") from None
        raise


def commit_file(temporary: Path, path: Path) -> None:
    """Rename a finished file or folder to `path`. Its bytes are on the disk before that, its new name afterwards."""
    if temporary.is_dir():
        os.sync()  # the files in it, too: after a power cut, they could be empty
    _flush_to_disk(temporary)
    temporary.replace(path)
    _flush_to_disk(path.parent)


def _new_temporary_path(parent: Path, prefix: str, suffix: str = "") -> Path:
    """Return a new path in `parent`, whose name says which process uses it.

    Before that, remove the temporary paths that killed processes left in `parent`.
    """
    parent.mkdir(parents=True, exist_ok=True)
    host_id = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    for path in parent.glob(f"{glob.escape(prefix)}*{glob.escape(suffix)}"):
        # names are PREFIX HOST-PROCESS-RANDOM SUFFIX, such as ".dev.en." "5d41402a-4711-9f86d081" ".part.en"
        owner = re.match("(?P<host>[0-9a-f]{8})-(?P<process>[0-9]+)-", path.name.removeprefix(prefix))
        with suppress(FileNotFoundError):  # another process may remove it at the same time
            # The process of another machine is taken for dead if it has written nothing for a day.
            if owner and owner["host"] == host_id:
                is_used = process_exists(int(owner["process"]))
            else:
                is_used = time.time() - path.stat().st_mtime < _SECONDS_PER_DAY

            if is_used:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return parent / f"{prefix}{host_id}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"


def process_exists(process_id: int) -> bool:
    """Return whether a process with this number runs on this machine."""
    try:
        os.kill(process_id, 0)  # signal 0 only asks whether the process exists
    except PermissionError:
        pass  # a process of another user
    except (ProcessLookupError, OverflowError):
        return False
    return True


def copy_file(source: Path, target: Path) -> None:
    """Make `target` a copy of `source`, atomically."""
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)


def _flush_to_disk(path: Path) -> None:
    """Wait until the bytes of a file, or the names in a folder, are on the disk."""
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
    """Write a file atomically. Text for a pipe, a device or standard output is appended directly."""
    with atomic_path(path) as temporary, temporary.open("a", encoding="utf-8") as file:
        file.write(text)


def write_json(path: str | Path, value: Any) -> None:
    """Write a value in the format of `format_json`, atomically."""
    write_text(path, format_json(value))


def format_json(value: Any) -> str:
    """Return a value as JSON with sorted keys, so that equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def read_file(path: str | Path) -> bytes:
    """Return the bytes of a regular file. Pipes and devices are refused, since reading them may never end."""
    require_regular_file(path)
    with errors_as_user_error(path):
        return Path(path).read_bytes()


def read_json(path: str | Path) -> Any:
    """Return the value in a JSON file."""
    content = read_file(path)
    with errors_as_user_error(path):
        return json.loads(content)
