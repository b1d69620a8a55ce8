"""Locks: one process per folder, also on shared file systems, and one process per file of a machine.

A process that holds a folder has two locks:

- the kernel's lock of a file. It ends exactly with the process, but is in general visible on one machine only;
- a file with a heartbeat, which is visible on every machine: its time changes every ten seconds. A process that waits
  takes the holder for dead if it sees no change for a minute of its own clock. So the clocks of machines and file
  servers need not agree. They must agree for `read_holder`, which looks only once.

For things of one machine (a build, a GPU, a journal), the kernel's lock is sufficient. Neither lock needs hard links,
which exFAT and SMB lack.
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
from nmt.io.files import process_exists

HEARTBEAT_SECONDS = 10.0
MAX_SILENCE_SECONDS = 60.0
"""Seconds without a heartbeat after which a process is taken for dead."""
POLL_SECONDS = 1.0

IfLocked = Literal["wait", "refuse"]


@dataclass(frozen=True)
class Holder:
    """The process that holds a folder, and the seconds since its last heartbeat by the clock of this machine.

    If the lock cannot be read, host and machine are empty and the process is 0.
    """

    host: str = ""
    machine: str = ""
    process: int = 0
    seconds_silent: float = 0.0

    @property
    def is_dead(self) -> bool:
        """Whether it is a process of this machine, and has ended."""
        is_local = (self.host, self.machine) == (socket.gethostname(), this_machine())
        return is_local and not process_exists(self.process)

    @property
    def is_alive(self) -> bool:
        """Whether the heartbeat seems to continue."""
        return not self.is_dead and self.seconds_silent < MAX_SILENCE_SECONDS

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}" if self.process else "another process"


def read_holder(folder: Path) -> Holder | None:
    """Return the holder of a folder, on any machine, or None if nobody holds it. The lock is not changed."""
    lock = _read_lock(folder / "lock")
    if lock is None:
        return None
    content, heartbeat_time = lock
    return _parse_holder(content, max(0.0, time.time() - heartbeat_time))


def _read_lock(path: Path) -> tuple[bytes, float] | None:
    """Return the content of a lock and the time of its last heartbeat, or None if there is no lock."""
    try:
        # The time is read from the open file, since a network's file system may cache the times of closed files.
        with path.open("rb") as file:
            return file.read(), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None


def _parse_holder(content: bytes, seconds_silent: float = 0.0) -> Holder:
    """Return the holder that the content of a lock names, or a holder without names if the content is damaged."""
    try:
        values = json.loads(content)
        return Holder(str(values["host"]), str(values["machine"]), int(values["process"]), seconds_silent)
    except (ValueError, TypeError, KeyError):
        return Holder(seconds_silent=seconds_silent)


def this_machine() -> str:
    """Return an id of this boot of this machine, or the host name if the kernel does not provide an id."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return socket.gethostname()


class StillLocked(Exception):
    """Raised when the waiting time for a folder is over."""


class Heartbeat(threading.Thread):
    """The heartbeat of a folder that is held. It ends when it is stopped, or another process takes the folder over.

    Attributes:
        path: the lock.
        content: the content that this process wrote into the lock.
        stopped: set to end the thread.
        taken_over: set when another process may have taken the folder.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        super().__init__(daemon=True)
        self.path, self.content = path, content
        self.stopped, self.taken_over = threading.Event(), threading.Event()

    def run(self) -> None:
        """Renew the time of the lock every `HEARTBEAT_SECONDS`.

        If this fails for `MAX_SILENCE_SECONDS`, other machines may take the folder over.
        """
        success_time = time.monotonic()
        while not self.stopped.wait(HEARTBEAT_SECONDS) and not self.is_lost():
            try:
                os.utime(self.path)
                success_time = time.monotonic()
            except OSError:
                if time.monotonic() - success_time > MAX_SILENCE_SECONDS:
                    self.taken_over.set()

    def is_lost(self) -> bool:
        """Return whether another process has taken the folder. Check this before writing anything."""
        try:
            if self.path.read_bytes() != self.content:
                self.taken_over.set()
        except FileNotFoundError:
            self.taken_over.set()
        except OSError:
            pass  # A network's file system may fail for a moment. If this lasts, the heartbeat fails as well.
        return self.taken_over.is_set()


class _Attempt:
    """The attempt of a waiting process to take a folder: it calls `take_lock` until this succeeds.

    Attributes:
        lock_path: the path of the lock.
        heard_heartbeat: whether the lock of another process changed between two calls of `take_lock`.
    """

    def __init__(self, folder: Path) -> None:
        self.lock_path = folder / "lock"
        self.heard_heartbeat = False
        self._previous_lock: tuple[bytes, float] | None = None
        self._unchanged_since = 0.0

    def take_lock(self) -> bytes | None:
        """Create the lock and return its content, or return None if another process may hold the folder."""
        # 1. break the lock of a dead process. A process on another machine is taken for dead if its lock is unchanged
        # for a minute.
        lock = _read_lock(self.lock_path)
        if lock is not None:
            if lock != self._previous_lock:  # a change since the last call is a heartbeat
                self.heard_heartbeat = self._previous_lock is not None
                self._previous_lock, self._unchanged_since = lock, time.monotonic()
            content, _ = lock
            is_silent = time.monotonic() - self._unchanged_since >= MAX_SILENCE_SECONDS
            if not is_silent and not _parse_holder(content).is_dead:
                return None
            _remove_dead_lock(self.lock_path, content)

        # 2. create a lock; mode "x" fails if another process is faster
        holder = {"host": socket.gethostname(), "machine": this_machine(), "process": os.getpid()}
        content = json.dumps(holder | {"random": secrets.token_hex(8)}).encode()
        try:
            with self.lock_path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            return None
        return content


@contextmanager
def hold_folder(folder: Path, if_locked: IfLocked, deadline: float = math.inf) -> Iterator[Heartbeat]:
    """Hold a folder until the block ends, and yield its heartbeat.

    If the process that holds the folder has died on this machine, its lock is broken immediately; if it runs on another
    machine, its lock is broken after a minute without heartbeat.

    Args:
        folder: the folder; it is created if it is missing.
        if_locked: whether to wait for another process that holds it, or to raise an error.
        deadline: when to stop waiting, a time of the monotonic clock.

    Raises:
        UserError: another process holds the folder, and `if_locked` is "refuse".
        StillLocked: another process held it until the deadline.
    """
    folder.mkdir(parents=True, exist_ok=True)
    attempt = _Attempt(folder)
    is_announced = False
    with (folder / "lock.machine").open("a") as file:
        while True:
            has_kernel_lock = try_lock(file.fileno())
            lock_content = attempt.take_lock() if has_kernel_lock else None
            if lock_content is not None:
                break

            # Another process holds the folder: raise an error, or say so once and wait. It lives for certain if it has
            # the kernel's lock, or if its heartbeat was heard.
            reason = f"{folder}: {read_holder(folder) or 'another process'} works on it"
            if if_locked == "refuse" and (attempt.heard_heartbeat or not has_kernel_lock):
                raise UserError(f"{reason}; wait for it, stop it, or pass --if-locked wait")
            if time.monotonic() >= deadline:
                raise StillLocked(f"{reason}; waited for it as long as there was time; run again")
            if not is_announced:
                click.echo(f"nmt: {reason}; waiting for it", err=True)
                is_announced = True
            time.sleep(POLL_SECONDS)

        # hold the folder until the block ends; leave the lock of a process that has taken it over
        heartbeat = Heartbeat(folder / "lock", lock_content)
        heartbeat.start()
        try:
            yield heartbeat
        finally:
            heartbeat.stopped.set()
            heartbeat.join()
            if not heartbeat.is_lost():
                heartbeat.path.unlink(missing_ok=True)


def _remove_dead_lock(lock: Path, content: bytes) -> None:
    """Remove the lock of a dead process, which has this content. A newer lock of another process stays."""
    # The lock could change between reading and removing it. No other process knows a renamed lock.
    renamed_lock = lock.with_name(f"lock.{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        lock.rename(renamed_lock)
        if renamed_lock.read_bytes() == content:
            renamed_lock.unlink()
        else:
            renamed_lock.rename(lock)


def try_lock(descriptor: int) -> bool:
    """Take the kernel's lock of an open file, and return False if another process holds it.

    If the file system has no such locks, this returns True. The lock ends with the process, or when the file is closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    return True


def open_exclusively(path: Path) -> BinaryIO:
    """Open a file for appending, and wait while another process has it open. Create its folder if it is missing."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError), ExitStack() as stack:
            # the stack closes the file at the end of this block, unless the file is returned
            file = stack.enter_context(path.open("a+b"))
            if not try_lock(file.fileno()):
                click.echo(f"nmt: {path}: another process works on it; waiting for it", err=True)
                fcntl.flock(file, fcntl.LOCK_EX)

            # The other process may have deleted the file, and even its folder. Then open it anew.
            if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                stack.pop_all()
                return file
