"""Locks: one writer per folder, with a heartbeat that is also visible on shared file systems; one process per file.

There are two kinds of locks. The file of the heartbeat is visible on every machine, but a process that is only
suspended is taken for dead after a minute without heartbeat. The lock of the kernel is exact, also for suspended
processes, but in general visible on one machine only. A process that holds a folder holds both. For things of one
machine (a build, a GPU, a journal), the lock of the kernel is sufficient.
"""

from __future__ import annotations

import errno
import fcntl
import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Literal

import click
from flufl.lock import Lock, LockState, NotLockedError, TimeOutError

from nmt.errors import UserError

LIFETIME = timedelta(seconds=60)
HEARTBEAT = 10.0
POLL = 5.0
BOOT = Path("/proc/sys/kernel/random/boot_id")
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of a file system without locks of the kernel. Then there is only the heartbeat."""

IfLocked = Literal["wait", "refuse"]


@dataclass(frozen=True)
class Writer:
    """The holder of a folder. silence: seconds since the last heartbeat; dead: the process is known to have ended."""

    host: str
    process: int
    silence: float
    dead: bool

    @property
    def alive(self) -> bool:
        """Whether the heartbeat continues."""
        return not self.dead and self.silence < LIFETIME.total_seconds()


def observe(folder: Path) -> Writer | None:
    """Return the holder of a folder, on any machine; None if there is none. This neither takes nor changes a lock."""
    lock = Lock(str(folder / "lock"), lifetime=LIFETIME)
    try:
        host, process, _ = lock.details
        expires = (folder / "lock").stat().st_mtime
    except (NotLockedError, OSError, ValueError):
        return None
    silence = max(0.0, time.time() - (expires - LIFETIME.total_seconds()))
    return Writer(host, process, silence, died_here(lock))


def died_here(lock: Lock) -> bool:
    """Return whether the holder was a process of this machine that has ended.

    The library compares host names. If all machines have the same name, it would take a living process on another
    machine for dead. So the holder of a folder also records its machine.
    """
    if lock.state != LockState.stale:
        return False
    try:
        return machine_file(Path(lock.lockfile).parent).read_text(encoding="utf-8") == this_machine()
    except FileNotFoundError:
        return False


def machine_file(folder: Path) -> Path:
    """Return the file with the kernel's lock, which contains the name of the holder's machine."""
    return folder / "lock.machine"


def this_machine() -> str:
    """Return an id of this boot of this machine, or the host name if the kernel does not provide an id."""
    try:
        return BOOT.read_text(encoding="utf-8").strip()
    except OSError:
        return socket.getfqdn()


class StillLocked(Exception):
    """Raised when the waiting time for a folder is over."""


class Heartbeat(threading.Thread):
    """Refreshes a lock until it is stopped. `lost` is set if another process has taken the lock."""

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


class Holding:
    """A folder that is held."""

    def __init__(self, lock: Lock, heartbeat: Heartbeat) -> None:
        self._lock, self._heartbeat = lock, heartbeat

    def lost(self) -> bool:
        """Return whether another process has taken the folder. Check this before writing anything."""
        return self._heartbeat.lost.is_set() or not self._lock.is_locked


@contextmanager
def hold(folder: Path, if_locked: IfLocked, deadline: float = math.inf) -> Iterator[Holding]:
    """Hold the folder.

    The lock of a process that died on this machine is broken at once, that of another machine if its heartbeat is over
    a minute old. If the folder is held and `if_locked` is "refuse", raises a UserError that names the holder. Raises
    StillLocked if it is held until `deadline`, a time of the monotonic clock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(str(folder / "lock"), lifetime=LIFETIME)
    with on_this_machine(machine_file(folder), lock, if_locked, deadline):
        acquire(lock, if_locked, deadline)
        heartbeat = Heartbeat(lock)
        heartbeat.start()
        try:
            machine_file(folder).write_text(this_machine(), encoding="utf-8")
            yield Holding(lock, heartbeat)
        finally:
            heartbeat.stopped.set()
            heartbeat.join()
            lock.unlock(unconditionally=True)


@contextmanager
def on_this_machine(path: Path, lock: Lock, if_locked: IfLocked, deadline: float) -> Iterator[None]:
    """Hold the kernel's lock of a file, which ends with the process. `lock` identifies another holder."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    told = False
    try:
        while not try_lock(descriptor):
            told = refuse_or_tell(lock, if_locked, told, deadline)
            time.sleep(1)
        yield
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the kernel's lock of an open file. Return False if another process holds it.

    The result is also True if the file system has no such locks. The lock ends with the process, or when the file is
    closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    return True


def wait_for_lock(descriptor: int, name: str) -> None:
    """Take the kernel's lock of an open file. If it waits for another process, print this once, with the given name."""
    told = False
    while not try_lock(descriptor):
        if not told:
            click.echo(f"nmt: {name}: another process works on it; waiting for it", err=True)
            told = True
        time.sleep(1)


def open_alone(path: Path) -> BinaryIO:
    """Open a file for appending, and wait while another process has it open. Create its folder if it is missing."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("a+b")
        except FileNotFoundError:
            continue  # whom we wait for has just removed the folder
        wait_for_lock(file.fileno(), str(path))
        if _is(path, file):
            return file
        file.close()  # whom we waited for was done with it and has removed it


def _is(path: Path, file: BinaryIO) -> bool:
    """Return whether `path` is still the path of the open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def refuse_or_tell(lock: Lock, if_locked: IfLocked, told: bool, deadline: float) -> bool:
    """Raise a UserError that names the holder, or print once that the process waits for it, and return True."""
    if if_locked == "refuse":
        raise UserError(f"{holder(lock)}; wait for it, stop it, or pass --if-locked wait")
    if time.monotonic() >= deadline:
        raise StillLocked(f"{holder(lock)}; waited for it as long as there was time; run again")
    if not told:
        click.echo(f"nmt: {holder(lock)}; waiting for it", err=True)
    return True


def acquire(lock: Lock, if_locked: IfLocked, deadline: float) -> None:
    """Take the heartbeat's lock, wait for it, or raise an error."""
    told = False
    while True:
        if died_here(lock):
            with suppress(FileNotFoundError):
                os.utime(lock.lockfile, (0, 0))  # long expired, so that the library breaks it now
        try:
            lock.lock(timeout=timedelta(seconds=POLL if told else 1))
            return
        except TimeOutError:
            told = refuse_or_tell(lock, if_locked, told, deadline)


def holder(lock: Lock) -> str:
    """Describe the holder of the lock."""
    folder = Path(lock.lockfile).parent
    try:
        host, process, _ = lock.details
    except NotLockedError:
        return f"{folder}: another process works on it"
    return f"{folder}: process {process} on {host} works on it"
