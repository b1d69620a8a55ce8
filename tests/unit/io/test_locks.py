"""One writer per folder."""

from __future__ import annotations

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


def start(folder: Path, then: str) -> subprocess.Popen[str]:
    """A process that holds the folder and then does something."""
    code = "import os, sys, time; from pathlib import Path; from nmt.io import locks\n"
    code += f"with locks.hold_folder(Path(sys.argv[1]), 'refuse'): {then}"
    command = [sys.executable, "-c", code, str(folder)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def test_a_second_process_is_refused_and_the_first_named(tmp_path: Path) -> None:
    with locks.hold_folder(tmp_path, "refuse"):
        _, said = start(tmp_path, "pass").communicate()
    assert f"process {os.getpid()} on" in said


def test_a_dead_processs_lock_is_broken_at_once(tmp_path: Path) -> None:
    start(tmp_path, "os.kill(os.getpid(), 9)").communicate()
    assert (tmp_path / "lock").exists()
    with locks.hold_folder(tmp_path, "refuse"):
        pass


@pytest.fixture
def short_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "MAX_SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(locks, "POLL_SECONDS", 0.01)


@pytest.mark.usefixtures("short_life")
@pytest.mark.parametrize("clock", [0, 2**31])
def test_another_machine_lives_as_long_as_its_heartbeat_whatever_its_clock_says(
    tmp_path: Path, clock: int
) -> None:
    start(tmp_path, "os.kill(os.getpid(), 9)").communicate()
    lock, stopped = tmp_path / "lock", threading.Event()
    dead = locks.read_holder(tmp_path)
    assert dead is not None and dead.is_dead
    claim = json.loads(lock.read_bytes())  # of a machine with the same name, or started anew
    lock.write_text(json.dumps(claim | {"machine": "another"}), encoding="utf-8")

    def beat() -> None:
        seconds = clock
        while not stopped.wait(0.02):
            seconds += 10
            os.utime(lock, (seconds, seconds))

    heart = threading.Thread(target=beat)
    heart.start()
    with refused(), locks.hold_folder(tmp_path, "refuse"):
        pass
    with (
        pytest.raises(locks.StillLocked),
        locks.hold_folder(tmp_path, "wait", deadline=time.monotonic() + 1),
    ):
        pass
    stopped.set()
    heart.join()
    with locks.hold_folder(tmp_path, "refuse"):
        pass


@pytest.mark.usefixtures("short_life")
def test_the_number_of_a_dead_process_may_be_in_use_again(tmp_path: Path) -> None:
    start(tmp_path, "os.kill(os.getpid(), 9)").communicate()
    claim = json.loads((tmp_path / "lock").read_bytes())
    (tmp_path / "lock").write_text(json.dumps(claim | {"process": os.getppid()}), encoding="utf-8")
    with locks.hold_folder(tmp_path, "refuse"):
        pass


def test_a_lock_that_somebody_has_taken_meanwhile_stays(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b"new")
    locks._remove_dead_lock(tmp_path / "lock", b"old")
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


@pytest.mark.usefixtures("short_life")
@pytest.mark.parametrize("content", [b"", b"\0" * 200, b"{", b"[]", b'{"host": "a"}'])
def test_an_unreadable_lock_is_a_leftover_of_a_power_cut(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)
    begin = time.monotonic()
    with locks.hold_folder(tmp_path, "refuse") as holding:
        assert not holding.is_lost()
        assert time.monotonic() - begin >= locks.MAX_SILENCE_SECONDS, "its process may be about to write it"


def test_a_suspended_process_is_not_taken_for_dead(tmp_path: Path) -> None:
    with start(tmp_path, "print('held', flush=True); time.sleep(60)") as first:
        try:
            assert first.stdout is not None and first.stdout.readline() == "held\n"
            first.send_signal(signal.SIGSTOP)
            os.utime(tmp_path / "lock", (0, 0))  # its heartbeat is long overdue
            named = refused()
            with named, locks.hold_folder(tmp_path, "refuse"):
                pytest.fail("two at once")
        finally:
            first.kill()


def test_a_heartbeat_that_finds_its_lock_gone_says_so_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "HEARTBEAT_SECONDS", 0.01)
    with locks.hold_folder(tmp_path, "refuse") as holding:
        claim = (tmp_path / "lock").read_bytes()
        (tmp_path / "lock").unlink()
        holding.join(60)
        assert not holding.is_alive(), "it beats on without a lock"
        # somebody else has had the folder meanwhile, though the lock looks like this process' own again
        (tmp_path / "lock").write_bytes(claim)
        assert holding.is_lost()


def test_who_was_taken_over_knows_it_before_the_next_heartbeat(tmp_path: Path) -> None:
    with locks.hold_folder(tmp_path, "refuse") as holding:
        assert not holding.is_lost()
        (tmp_path / "lock").write_text('{"host": "elsewhere", "machine": "7", "process": 123}')
        assert holding.is_lost()
    assert (tmp_path / "lock").exists()


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO])
def test_a_heartbeat_may_fail_and_counts_when_all_fail_for_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(locks, "HEARTBEAT_SECONDS", 0.01)
    failed = threading.Event()

    def failing(*_: object) -> None:
        failed.set()
        raise OSError(number, os.strerror(number))

    with locks.hold_folder(tmp_path, "refuse") as holding:
        for name in ("utime", "read_bytes"):
            monkeypatch.setattr(locks.os if name == "utime" else Path, name, failing)
        assert failed.wait(60) and not holding.is_lost()
        monkeypatch.setattr(locks, "MAX_SILENCE_SECONDS", 0.05)
        assert holding.taken_over.wait(60)
        monkeypatch.undo()


def test_a_file_system_without_locks_is_trusted_and_another_error_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(number: int) -> None:
        def flock(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(locks.fcntl, "flock", flock)

    with (tmp_path / "lock").open("w") as file:
        failing(errno.ENOLCK)
        assert locks.try_lock(file.fileno())
        failing(errno.EIO)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            locks.try_lock(file.fileno())
