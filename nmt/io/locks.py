"""Locks: one writer per folder, with a heartbeat that is also visible on shared file systems; one process per file.

There are two kinds of locks. The file of the heartbeat is visible on every machine, but a process that is only
suspended is taken for dead after a minute without heartbeat. The lock of the kernel is exact, also for suspended
processes, but in general visible on one machine only. A process that holds a folder holds both. For things of one
machine (a build, a GPU, a journal), the lock of the kernel is sufficient. Neither needs hard links, which exFAT and SMB
lack.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import click

from nmt.errors import UserError
from nmt.io.files import lives

LIFETIME = 60.0
"""Seconds without a heartbeat after which a process is taken for dead."""
HEARTBEAT = 10.0
UNWRITTEN = 5.0
"""Seconds that a lock may be empty, until its holder has written it. Then it is a leftover of a power cut."""
BOOT = Path("/proc/sys/kernel/random/boot_id")
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of a file system without locks of the kernel. Then there is only the heartbeat."""

IfLocked = Literal["wait", "refuse"]


@dataclass(frozen=True)
class Writer:
    """The holder of a folder. silence: seconds since the last heartbeat; dead: the process is known to have ended.

    Of a lock that cannot be read, the host is empty and the process 0.
    """

    host: str
    process: int
    silence: float
    dead: bool

    @property
    def alive(self) -> bool:
        """Whether the heartbeat continues."""
        return not self.dead and self.silence < (LIFETIME if self.process else UNWRITTEN)


def observe(folder: Path) -> Writer | None:
    """Return the holder of a folder, on any machine; None if there is none. This neither takes nor changes a lock."""
    try:
        silence = max(0.0, time.time() - _lock(folder).stat().st_mtime)
        host, machine, process = _parsed(_lock(folder).read_bytes())
    except OSError:
        return None
    here = (host, machine) == (socket.gethostname(), this_machine())
    return Writer(host, process, silence, dead=here and process != os.getpid() and not lives(process))


def _lock(folder: Path) -> Path:
    return folder / "lock"


def _parsed(claim: bytes) -> tuple[str, str, int]:
    """Return host, machine and process of a lock; empty ones if it cannot be read."""
    try:
        values = json.loads(claim)
        return str(values["host"]), str(values["machine"]), int(values["process"])
    except (ValueError, TypeError, KeyError):
        return "", "", 0


def this_machine() -> str:
    """Return an id of this boot of this machine, or the host name if the kernel does not provide an id."""
    try:
        return BOOT.read_text(encoding="utf-8").strip()
    except OSError:
        return socket.gethostname()


class StillLocked(Exception):
    """Raised when the waiting time for a folder is over."""


class Holding(threading.Thread):
    """A folder that is held. The thread beats until `stopped`, or until it finds the folder taken over."""

    def __init__(self, path: Path, claim: bytes) -> None:
        super().__init__(daemon=True)
        self.path, self.claim = path, claim
        self.stopped, self.taken = threading.Event(), threading.Event()

    def run(self) -> None:
        """Beat. A heartbeat that fails counts only if all others fail for a minute, too."""
        last = time.monotonic()
        while not self.stopped.wait(HEARTBEAT) and not self.lost():
            try:
                os.utime(self.path)
                last = time.monotonic()
            except OSError:
                if time.monotonic() - last > LIFETIME:
                    self.taken.set()

    def lost(self) -> bool:
        """Return whether another process has taken the folder. Check this before writing anything."""
        try:
            if self.path.read_bytes() != self.claim:
                self.taken.set()
        except FileNotFoundError:
            self.taken.set()
        except OSError:
            pass  # a network's file system that fails for a moment; the heartbeat knows if it lasts
        return self.taken.is_set()


@contextmanager
def hold(folder: Path, if_locked: IfLocked, deadline: float = math.inf) -> Iterator[Holding]:
    """Hold the folder.

    The lock of a process that died on this machine is broken at once, that of another machine if its heartbeat is over
    a minute old. If the folder is held and `if_locked` is "refuse", raises a UserError that names the holder. Raises
    StillLocked if it is held until `deadline`, a time of the monotonic clock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with on_this_machine(folder, if_locked, deadline) as exact:
        holding = Holding(_lock(folder), acquire(folder, exact, if_locked, deadline))
        holding.start()
        try:
            yield holding
        finally:
            holding.stopped.set()
            holding.join()
            if not holding.lost():
                holding.path.unlink(missing_ok=True)


@contextmanager
def on_this_machine(folder: Path, if_locked: IfLocked, deadline: float) -> Iterator[bool]:
    """Hold the lock of the kernel for the folder, which ends with the process. Yield whether there are such locks."""
    descriptor = os.open(folder / "lock.machine", os.O_RDWR | os.O_CREAT, 0o666)
    told = False
    try:
        while (taken := kernel_lock(descriptor)) is False:
            told = refuse_or_tell(folder, if_locked, told, deadline)
            time.sleep(1)
        yield taken is not None
    finally:
        os.close(descriptor)


def acquire(folder: Path, exact: bool, if_locked: IfLocked, deadline: float) -> bytes:
    """Take the heartbeat's lock, wait for it, or raise an error. Return what it contains.

    exact: whether this process has the kernel's lock, so that no other process of this machine holds the folder.
    """
    told = False
    claim = {"host": socket.gethostname(), "machine": this_machine(), "process": os.getpid()}
    content = json.dumps(claim | {"random": secrets.token_hex(8)}).encode()
    while True:
        with suppress(FileExistsError):
            descriptor = os.open(_lock(folder), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with open(descriptor, "wb") as file:
                file.write(content)
            return content
        if not _break(folder, exact):
            told = refuse_or_tell(folder, if_locked, told, deadline)
            time.sleep(1)


def _break(folder: Path, exact: bool) -> bool:
    """Remove a lock whose holder is dead. Return False if it lives."""
    writer = observe(folder)
    if writer is None:
        return True
    aside = folder / f"lock.{secrets.token_hex(8)}"
    with suppress(FileNotFoundError):  # another process was first
        claim = _lock(folder).read_bytes()
        here = exact and _parsed(claim)[1] == this_machine()
        if writer.alive and not here:
            return False
        _lock(folder).rename(aside)
        if aside.read_bytes() == claim:
            aside.unlink()
        else:
            aside.rename(_lock(folder))  # another process has broken it, too, and has taken the folder
    return True


def kernel_lock(descriptor: int) -> bool | None:
    """Take the kernel's lock of an open file. Return False if another process holds it, None if there is no such lock.

    The lock ends with the process, or when the file is closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        return None
    return True


def try_lock(descriptor: int) -> bool:
    """Take the kernel's lock of an open file if the file system has such locks. Return False if another holds it."""
    return kernel_lock(descriptor) is not False


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


def refuse_or_tell(folder: Path, if_locked: IfLocked, told: bool, deadline: float) -> bool:
    """Raise a UserError that names the holder, or print once that the process waits for it, and return True."""
    writer = observe(folder)
    named = f"process {writer.process} on {writer.host}" if writer and writer.process else "another process"
    holder = f"{folder}: {named} works on it"
    if if_locked == "refuse":
        raise UserError(f"{holder}; wait for it, stop it, or pass --if-locked wait")
    if time.monotonic() >= deadline:
        raise StillLocked(f"{holder}; waited for it as long as there was time; run again")
    if not told:
        click.echo(f"nmt: {holder}; waiting for it", err=True)
    return True
