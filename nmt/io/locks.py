"""Locks: one writer per folder, with a heartbeat that is also seen on shared file systems; one process per file.

Two locks in one. The heartbeat's file is seen from every machine, but a process that was only suspended is taken for
dead when its heartbeat has been silent for a minute. The kernel's lock is exact, for suspended processes too, but in
general seen on one machine only. A process that holds a folder holds both; what is of one machine only
(a build, a GPU, a journal) needs the kernel's alone.
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
"""What a file system says that has no kernel's locks; the heartbeat is then all there is."""

IfLocked = Literal["wait", "refuse"]


@dataclass(frozen=True)
class Writer:
    """Who holds a folder. silence: seconds since the last heartbeat; dead: known to have ended."""

    host: str
    process: int
    silence: float
    dead: bool

    @property
    def alive(self) -> bool:
        """Whether the heartbeat goes on."""
        return not self.dead and self.silence < LIFETIME.total_seconds()


def observe(folder: Path) -> Writer | None:
    """Who holds a folder, seen from any machine; None if nobody does. Takes and changes nothing."""
    lock = Lock(str(folder / "lock"), lifetime=LIFETIME)
    try:
        host, process, _ = lock.details
        expires = (folder / "lock").stat().st_mtime
    except (NotLockedError, OSError, ValueError):
        return None
    silence = max(0.0, time.time() - (expires - LIFETIME.total_seconds()))
    return Writer(host, process, silence, died_here(lock))


def died_here(lock: Lock) -> bool:
    """Whether the holder was a process of this machine that has ended.

    The library goes by names of hosts; where all machines give themselves the same one, a process that lives on another
    would be taken for dead. So who holds a folder also notes which machine it is on.
    """
    if lock.state != LockState.stale:
        return False
    try:
        return machine_file(Path(lock.lockfile).parent).read_text(encoding="utf-8") == this_machine()
    except FileNotFoundError:
        return False


def machine_file(folder: Path) -> Path:
    """What holds the kernel's lock, and the name of the holder's machine."""
    return folder / "lock.machine"


def this_machine() -> str:
    """What no other machine has, nor this one once started anew; the host's name where the kernel does not tell."""
    try:
        return BOOT.read_text(encoding="utf-8").strip()
    except OSError:
        return socket.getfqdn()


class StillLocked(Exception):
    """The time is over in which the folder could be waited for."""


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


class Holding:
    """A folder that is held."""

    def __init__(self, lock: Lock, heartbeat: Heartbeat) -> None:
        self._lock, self._heartbeat = lock, heartbeat

    def lost(self) -> bool:
        """Whether another process has taken the folder over by now: to be asked before anything is written."""
        return self._heartbeat.lost.is_set() or not self._lock.is_locked


@contextmanager
def hold(folder: Path, if_locked: IfLocked, deadline: float = math.inf) -> Iterator[Holding]:
    """Hold the folder.

    A lock whose process has died on this machine is broken at once, one of another machine when its heartbeat is over
    a minute old. Raises UserError, naming the holder, if the folder is held and `if_locked` is "refuse"; StillLocked
    if it is held until `deadline`, a time of the monotonic clock.
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
    """Hold the kernel's lock of a file, which ends with the process; `lock` knows who else may hold it."""
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
    """Take the kernel's lock of an open file; False if another process holds it.

    True also where the file system has no such locks. It ends with the process, or when the file is closed.
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
    """Take the kernel's lock of an open file; says once, by this name, that another process is waited for."""
    told = False
    while not try_lock(descriptor):
        if not told:
            click.echo(f"nmt: {name}: another process works on it; waiting for it", err=True)
            told = True
        time.sleep(1)


def open_alone(path: Path) -> BinaryIO:
    """Open a file to append to, as soon as no other process has it open so; its folder is made where it is gone."""
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
    """Whether `path` still leads to the open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def refuse_or_tell(lock: Lock, if_locked: IfLocked, told: bool, deadline: float) -> bool:
    """Raise a UserError that names the holder, or say once that it is waited for; returns that it has been told."""
    if if_locked == "refuse":
        raise UserError(f"{holder(lock)}; wait for it, stop it, or pass --if-locked wait")
    if time.monotonic() >= deadline:
        raise StillLocked(f"{holder(lock)}; waited for it as long as there was time; run again")
    if not told:
        click.echo(f"nmt: {holder(lock)}; waiting for it", err=True)
    return True


def acquire(lock: Lock, if_locked: IfLocked, deadline: float) -> None:
    """Take the heartbeat's lock, or wait for it, or refuse."""
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
    """Who holds the lock, in words."""
    folder = Path(lock.lockfile).parent
    try:
        host, process, _ = lock.details
    except NotLockedError:
        return f"{folder}: another process works on it"
    return f"{folder}: process {process} on {host} works on it"
