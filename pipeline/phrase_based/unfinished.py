"""Folders of unfinished work, from which a stopped job continues."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nmt.io.locks import open_alone


@contextmanager
def held(work: Path, settings: Sequence[object], files: Sequence[Path]) -> Iterator[int]:
    """Hold a folder of unfinished work, and remove it when the block ends without an error.

    Work with other settings or files is removed first. The started programs inherit the lock, so that the programs of a
    killed process are waited for.

    Args:
        work: the folder.
        settings: all that decides what is made there.
        files: what it is made from.

    Yields:
        The lock's descriptor.
    """
    with open_alone(work / "lock") as lock:
        begun = work / "begun_with"
        wanted = repr([*settings, *((str(file), *_version(file)) for file in files)])
        if not begun.exists() or begun.read_text(encoding="utf-8") != wanted:
            _empty(work)
            begun.write_text(wanted, encoding="utf-8")
        yield lock.fileno()
        shutil.rmtree(work)


def _version(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def _empty(work: Path) -> None:
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != "lock":
            path.unlink()
