"""One writer a state folder: a lock with a heartbeat that also holds on shared file systems."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Literal

import click
from flufl.lock import Lock, LockState, NotLockedError, TimeOutError

from nmt.errors import UserError

LIFETIME = timedelta(seconds=60)
HEARTBEAT = 10.0
POLL = 5.0

IfLocked = Literal["wait", "refuse"]


class Heartbeat(threading.Thread):
    """Refreshes a lock until stopped; `lost` is set when another process has taken it."""

    def __init__(self, lock: Lock) -> None:
        super().__init__(daemon=True)
        self.lock = lock
        self.stopped, self.lost = threading.Event(), threading.Event()

    def run(self) -> None:
        """Refresh until stopped or lost."""
        while not self.stopped.wait(HEARTBEAT):
            try:
                self.lock.refresh()
            except (NotLockedError, OSError):
                self.lost.set()
                return


@contextmanager
def hold(folder: Path, if_locked: IfLocked) -> Iterator[threading.Event]:
    """Hold the folder's lock; yields an event that is set if it is lost.

    A lock whose process has died on this machine is broken at once, one of another machine when its heartbeat is over
    a minute old. Raises UserError, naming the holder, if the folder is held and `if_locked` is "refuse".
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(str(folder / "lock"), lifetime=LIFETIME)
    acquire(lock, if_locked)
    heartbeat = Heartbeat(lock)
    heartbeat.start()
    try:
        yield heartbeat.lost
    finally:
        heartbeat.stopped.set()
        heartbeat.join()
        lock.unlock(unconditionally=True)


def acquire(lock: Lock, if_locked: IfLocked) -> None:
    """Take the lock, or wait for it, or refuse."""
    told = False
    while True:
        if lock.state == LockState.stale:
            with suppress(FileNotFoundError):
                os.utime(lock.lockfile, (0, 0))  # long expired, so that the library breaks it now
        try:
            lock.lock(timeout=timedelta(seconds=POLL if told else 1))
            return
        except TimeOutError:
            if if_locked == "refuse":
                raise UserError(f"{holder(lock)}; wait for it, stop it, or pass --if-locked wait") from None
            if not told:
                click.echo(f"nmt: {holder(lock)}; waiting for it", err=True)
            told = True


def holder(lock: Lock) -> str:
    """Who holds the lock, in words."""
    folder = Path(lock.lockfile).parent
    try:
        host, process, _ = lock.details
    except NotLockedError:
        return f"{folder}: another process works on it"
    return f"{folder}: process {process} on {host} works on it"
