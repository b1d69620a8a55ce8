"""One process per folder."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nmt.io import locks
from tests.messages import refused
from tests.running import ROOT


def start_holder(folder: Path, action: str) -> subprocess.Popen[str]:
    """A process that holds the folder and then does something."""
    code = "import os, sys, time; from pathlib import Path; from nmt.io import locks\n"
    code += f"with locks.hold_folder(Path(sys.argv[1]), 'refuse'): {action}"
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def dead_lock(tmp_path: Path) -> Path:
    """The lock of a process that was killed."""
    start_holder(tmp_path, "os.kill(os.getpid(), 9)").communicate()
    return tmp_path / "lock"


def rewrite_lock(lock: Path, **values: object) -> None:
    holder = json.loads(lock.read_bytes())
    lock.write_text(json.dumps(holder | values), encoding="utf-8")


def test_second_process_is_refused(tmp_path):
    with locks.hold_folder(tmp_path, "refuse"):
        _, errors = start_holder(tmp_path, "pass").communicate()
    assert f"process {os.getpid()} on" in errors


def test_lock_of_dead_process_is_broken(dead_lock):
    assert dead_lock.exists()
    with locks.hold_folder(dead_lock.parent, "refuse") as heartbeat:
        assert not heartbeat.is_lost()


@pytest.fixture
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "MAX_SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(locks, "POLL_SECONDS", 0.01)


@pytest.mark.usefixtures("short_times")
@pytest.mark.parametrize("clock", [0, 2**31])
def test_heartbeat_of_other_machine(dead_lock, clock):
    """It counts whatever that machine's clock says."""
    folder, stopped = dead_lock.parent, threading.Event()
    holder = locks.read_holder(folder)
    assert holder.is_dead
    rewrite_lock(dead_lock, machine="another")  # a machine with the same name, or started anew

    def beat() -> None:
        seconds = clock
        while not stopped.wait(0.02):
            seconds += 10
            os.utime(dead_lock, (seconds, seconds))

    heartbeat = threading.Thread(target=beat)
    heartbeat.start()
    with refused(), locks.hold_folder(folder, "refuse"):
        pass
    deadline = time.monotonic() + 1
    with pytest.raises(locks.StillLocked), locks.hold_folder(folder, "wait", deadline):
        pass
    stopped.set()
    heartbeat.join()
    with locks.hold_folder(folder, "refuse"):
        pass


@pytest.mark.usefixtures("short_times")
def test_reused_process_number(dead_lock):
    rewrite_lock(dead_lock, process=os.getppid())
    with locks.hold_folder(dead_lock.parent, "refuse") as heartbeat:
        assert not heartbeat.is_lost()


def test_new_lock_is_not_removed(tmp_path):
    (tmp_path / "lock").write_bytes(b"new")
    locks._remove_dead_lock(tmp_path / "lock", b"old")
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


@pytest.mark.usefixtures("short_times")
@pytest.mark.parametrize("content", [b"", b"\0" * 200, b"[]", b'{"host": "a"}'])
def test_unreadable_lock_is_broken_later(tmp_path, content):
    """A power cut leaves such locks, or its process may be about to write it."""
    (tmp_path / "lock").write_bytes(content)
    start = time.monotonic()
    with locks.hold_folder(tmp_path, "refuse") as heartbeat:
        assert not heartbeat.is_lost()
        assert time.monotonic() - start >= locks.MAX_SILENCE_SECONDS


def test_suspended_process_keeps_its_folder(tmp_path):
    with start_holder(tmp_path, "print('held', flush=True); time.sleep(60)") as process:
        try:
            assert process.stdout.readline() == "held\n"
            process.send_signal(signal.SIGSTOP)
            os.utime(tmp_path / "lock", (0, 0))  # its heartbeat is long overdue
            with refused(), locks.hold_folder(tmp_path, "refuse"):
                pass
        finally:
            process.kill()


def test_lost_lock_stays_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "HEARTBEAT_SECONDS", 0.01)
    with locks.hold_folder(tmp_path, "refuse") as heartbeat:
        content = (tmp_path / "lock").read_bytes()
        (tmp_path / "lock").unlink()
        heartbeat.join(60)
        assert not heartbeat.is_alive(), "it beats on without a lock"
        # another process has had the folder meanwhile, though the lock looks like this process' own again
        (tmp_path / "lock").write_bytes(content)
        assert heartbeat.is_lost()


def test_taken_over_lock_is_not_removed(tmp_path):
    with locks.hold_folder(tmp_path, "refuse") as heartbeat:
        assert not heartbeat.is_lost()
        (tmp_path / "lock").write_text('{"host": "elsewhere", "machine": "7", "process": 123}')
        assert heartbeat.is_lost()
    assert (tmp_path / "lock").exists()


def test_failing_heartbeat(tmp_path, monkeypatch):
    """A heartbeat may fail, but not for a minute."""
    monkeypatch.setattr(locks, "HEARTBEAT_SECONDS", 0.01)
    failed = threading.Event()

    def fail(*_: object) -> None:
        failed.set()
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    with locks.hold_folder(tmp_path, "refuse") as heartbeat:
        monkeypatch.setattr(locks.os, "utime", fail)
        monkeypatch.setattr(Path, "read_bytes", fail)
        assert failed.wait(60) and not heartbeat.is_lost()
        monkeypatch.setattr(locks, "MAX_SILENCE_SECONDS", 0.05)
        assert heartbeat.taken_over.wait(60)
        monkeypatch.undo()


def test_file_system_without_locks(tmp_path, monkeypatch):
    def fail_with(number: int) -> None:
        def flock(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(locks.fcntl, "flock", flock)

    with (tmp_path / "lock").open("w") as file:
        fail_with(errno.ENOLCK)
        assert locks.try_lock(file.fileno())
        fail_with(errno.EIO)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            locks.try_lock(file.fileno())
