"""Locks: one writer per folder, with a heartbeat that is also visible on shared file systems; one process per file.

A process that holds a folder has two locks. The lock of the kernel ends exactly with the process, but in general is
visible on one machine only. The file of the heartbeat is visible on every machine: its time changes every ten seconds.
Another machine takes the process for dead if it sees no change for a minute of its own clock. So clocks of machines and
file servers need not agree. For things of one machine (a build, a GPU, a journal), the lock of the kernel is
sufficient. Neither needs hard links, which exFAT and SMB lack.
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
from nmt.io.files import is_other_process

LIFETIME = 60.0
"""Seconds without a heartbeat after which a process is taken for dead."""
HEARTBEAT, POLL = 10.0, 1.0

IfLocked = Literal["wait", "refuse"]


@dataclass(frozen=True)
class Holder:
    """The holder of a folder, and the seconds since its last heartbeat by the clock of this machine.

    If the lock cannot be read, host and machine are empty and the process is 0.
    """

    host: str = ""
    machine: str = ""
    process: int = 0
    seconds_silent: float = 0.0

    @property
    def is_local(self) -> bool:
        """Whether it is a process of this machine."""
        return (self.host, self.machine) == (socket.gethostname(), this_machine())

    @property
    def is_dead(self) -> bool:
        """Whether the process is known to have ended."""
        return self.is_local and self.process != os.getpid() and not is_other_process(self.process)

    @property
    def is_alive(self) -> bool:
        """Whether the heartbeat seems to continue."""
        return not self.is_dead and self.seconds_silent < LIFETIME

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}" if self.process else "another process"


def read_holder(folder: Path) -> Holder | None:
    """Return the holder of a folder, on any machine; None if there is none. This neither takes nor changes a lock."""
    seen = _read(folder / "lock")
    return seen and _writer(seen[0], max(0.0, time.time() - seen[1]))


def _read(lock: Path) -> tuple[bytes, float] | None:
    """Return the content of a lock and the time of its last heartbeat; None if there is no lock."""
    try:
        with lock.open("rb") as file:  # opened, since times of a network's file system may be old ones
            return file.read(), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None


def _writer(content: bytes, silence: float = 0.0) -> Holder:
    try:
        values = json.loads(content)
        return Holder(str(values["host"]), str(values["machine"]), int(values["process"]), silence)
    except (ValueError, TypeError, KeyError):
        return Holder(seconds_silent=silence)


def this_machine() -> str:
    """Return an id of this boot of this machine, or the host name if the kernel does not provide an id."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return socket.gethostname()


class StillLocked(Exception):
    """Raised when the waiting time for a folder is over."""


class Heartbeat(threading.Thread):
    """A folder that is held. The thread beats until `stopped`, or until it finds the folder taken over."""

    def __init__(self, path: Path, claim: bytes) -> None:
        super().__init__(daemon=True)
        self.path, self.claim = path, claim
        self.stopped, self.taken = threading.Event(), threading.Event()

    def run(self) -> None:
        """Beat. A heartbeat that fails counts only if all others fail for a minute, too."""
        last = time.monotonic()
        while not self.stopped.wait(HEARTBEAT) and not self.is_lost():
            try:
                os.utime(self.path)
                last = time.monotonic()
            except OSError:
                if time.monotonic() - last > LIFETIME:
                    self.taken.set()

    def is_lost(self) -> bool:
        """Return whether another process has taken the folder. Check this before writing anything."""
        try:
            if self.path.read_bytes() != self.claim:
                self.taken.set()
        except FileNotFoundError:
            self.taken.set()
        except OSError:
            pass  # a network's file system that fails for a moment; the heartbeat knows if it lasts
        return self.taken.is_set()


class _Attempt:
    """The attempt to take a folder, which looks at its lock again and again.

    heard: whether the heartbeat of its holder was heard meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self.lock = folder / "lock"
        self.heard = False
        self._seen: tuple[bytes, float] | None = None
        self._unchanged_since = 0.0

    def take(self) -> bytes | None:
        """Create the file of the heartbeat, and return its content; None if another process may hold the folder."""
        if seen := _read(self.lock):
            if seen != self._seen:
                self.heard = self._seen is not None
                self._seen, self._unchanged_since = seen, time.monotonic()
            if not _writer(seen[0]).is_dead and time.monotonic() - self._unchanged_since < LIFETIME:
                return None
            _remove(self.lock, seen[0])
        claim = {"host": socket.gethostname(), "machine": this_machine(), "process": os.getpid()}
        content = json.dumps(claim | {"random": secrets.token_hex(8)}).encode()
        try:
            with self.lock.open("xb") as file:
                file.write(content)
        except FileExistsError:
            return None
        return content


@contextmanager
def hold_folder(folder: Path, if_locked: IfLocked, deadline: float = math.inf) -> Iterator[Heartbeat]:
    """Hold the folder.

    The lock of a process that died on this machine is broken at once, that of another machine after a minute without
    heartbeat. If the folder is held and `if_locked` is "refuse", raises a UserError that names the holder. Raises
    StillLocked if it is held until `deadline`, a time of the monotonic clock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    announced, attempt = False, _Attempt(folder)
    with (folder / "lock.machine").open("a") as file:
        while True:
            is_only_one_here = try_lock(file.fileno())
            if is_only_one_here and (claim := attempt.take()):
                break
            blocked = f"{folder}: {read_holder(folder) or 'another process'} works on it"
            if if_locked == "refuse" and (attempt.heard or not is_only_one_here):
                raise UserError(f"{blocked}; wait for it, stop it, or pass --if-locked wait")
            if time.monotonic() >= deadline:
                raise StillLocked(f"{blocked}; waited for it as long as there was time; run again")
            if not announced:
                click.echo(f"nmt: {blocked}; waiting for it", err=True)
                announced = True
            time.sleep(POLL)
        holding = Heartbeat(folder / "lock", claim)
        holding.start()
        try:
            yield holding
        finally:
            holding.stopped.set()
            holding.join()
            if not holding.is_lost():
                holding.path.unlink(missing_ok=True)


def _remove(lock: Path, claim: bytes) -> None:
    """Remove the lock of a dead process, unless another process has removed it and taken the folder meanwhile."""
    aside = lock.with_name(f"lock.{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        lock.rename(aside)
        if aside.read_bytes() == claim:
            aside.unlink()
        else:
            aside.rename(lock)


def try_lock(descriptor: int) -> bool:
    """Take the kernel's lock of an open file if the file system has such locks. Return False if another holds it.

    The lock ends with the process, or when the file is closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    return True


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
