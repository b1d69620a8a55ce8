"""Locks: one writer per folder, with a heartbeat that is also visible on shared file systems; one process per file.

A process that holds a folder has two locks. The file of the heartbeat is visible on every machine, but a process that
is only suspended is taken for dead after a minute without heartbeat. The lock of the kernel ends exactly with the
process, but in general is visible on one machine only. For things of one machine (a build, a GPU, a journal), the
lock of the kernel is sufficient. Neither needs hard links, which exFAT and SMB lack.
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
from contextlib import ExitStack, contextmanager, suppress
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

IfLocked = Literal["wait", "refuse"]


@dataclass(frozen=True)
class Writer:
    """The holder of a folder, and the seconds since its last heartbeat.

    `claim` is the content of the lock. If it cannot be read, host and machine are empty and the process is 0.
    """

    claim: bytes
    host: str
    machine: str
    process: int
    silence: float

    @property
    def here(self) -> bool:
        """Whether it is a process of this machine."""
        return (self.host, self.machine) == (socket.gethostname(), this_machine())

    @property
    def dead(self) -> bool:
        """Whether the process is known to have ended."""
        return self.here and self.process != os.getpid() and not lives(self.process)

    @property
    def alive(self) -> bool:
        """Whether the heartbeat continues."""
        return not self.dead and self.silence < (LIFETIME if self.process else UNWRITTEN)

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}" if self.process else "another process"


def observe(folder: Path) -> Writer | None:
    """Return the holder of a folder, on any machine; None if there is none. This neither takes nor changes a lock."""
    path = folder / "lock"
    try:
        silence = max(0.0, time.time() - path.stat().st_mtime)
        claim = path.read_bytes()
    except OSError:
        return None
    try:
        values = json.loads(claim)
        return Writer(claim, str(values["host"]), str(values["machine"]), int(values["process"]), silence)
    except (ValueError, TypeError, KeyError):
        return Writer(claim, "", "", 0, silence)


def this_machine() -> str:
    """Return an id of this boot of this machine, or the host name if the kernel does not provide an id."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
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
    announced = False
    with (folder / "lock.machine").open("a") as file:
        while (claim := _claimed(folder, kernel_lock(file.fileno()))) is None:
            blocked = f"{folder}: {observe(folder) or 'another process'} works on it"
            if if_locked == "refuse":
                raise UserError(f"{blocked}; wait for it, stop it, or pass --if-locked wait")
            if time.monotonic() >= deadline:
                raise StillLocked(f"{blocked}; waited for it as long as there was time; run again")
            if not announced:
                click.echo(f"nmt: {blocked}; waiting for it", err=True)
            announced = True
            time.sleep(1)
        holding = Holding(folder / "lock", claim)
        holding.start()
        try:
            yield holding
        finally:
            holding.stopped.set()
            holding.join()
            if not holding.lost():
                holding.path.unlink(missing_ok=True)


def _claimed(folder: Path, exact: bool | None) -> bytes | None:
    """Create the file of the heartbeat, and return what it contains; None if another process holds the folder.

    exact: whether this process has the kernel's lock, so that no other process of this machine holds the folder; None
    if there are no such locks.
    """
    if exact is False:
        return None
    lock, writer = folder / "lock", observe(folder)
    if writer is not None:
        if writer.alive and not (exact and writer.machine == this_machine()):
            return None
        _remove(lock, writer.claim)
    claim = {"host": socket.gethostname(), "machine": this_machine(), "process": os.getpid()}
    content = json.dumps(claim | {"random": secrets.token_hex(8)}).encode()
    try:
        with lock.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return None
    return content


def _remove(lock: Path, claim: bytes) -> None:
    """Remove the lock of a dead process, unless another process has removed it and taken the folder meanwhile."""
    aside = lock.with_name(f"lock.{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        lock.rename(aside)
        if aside.read_bytes() == claim:
            aside.unlink()
        else:
            aside.rename(lock)


def kernel_lock(descriptor: int) -> bool | None:
    """Take the kernel's lock of an open file. Return False if another process holds it, None if there is no such lock.

    The lock ends with the process, or when the file is closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        return None
    return True


def try_lock(descriptor: int) -> bool:
    """Take the kernel's lock of an open file if the file system has such locks. Return False if another holds it."""
    return kernel_lock(descriptor) is not False


def wait_for_lock(descriptor: int, name: str) -> None:
    """Take the kernel's lock of an open file. If it waits for another process, print this once, with the given name."""
    if not try_lock(descriptor):
        click.echo(f"nmt: {name}: another process works on it; waiting for it", err=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def open_alone(path: Path) -> BinaryIO:
    """Open a file for appending, and wait while another process has it open. Create its folder if it is missing."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            suppress(FileNotFoundError),
            ExitStack() as opened,
        ):  # whom we wait for may remove folder and file
            file = opened.enter_context(path.open("a+b"))
            wait_for_lock(file.fileno(), str(path))
            if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                opened.pop_all()
                return file
