"""One GPU per job: processes of their own, on a pool of GPUs that need not exist."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.messages import check
from tests.running import ROOT

JOB = """
import os, sys
from pathlib import Path
from nmt.backend import gpu_pool
gpu_pool.LOCKS = Path(sys.argv[2])
gpu_pool.reserve_gpu(sys.argv[1])
gpu_pool.reserve_gpu(sys.argv[1])  # asked again, it stays with what it has
print("has", os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
sys.stdin.read()
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a job that holds what it took until it is ended."""
    started: list[subprocess.Popen[str]] = []

    def job(device: str = "auto", pool: str = "7,8") -> subprocess.Popen[str]:
        environment = {**os.environ, "NMT_GPUS": pool, "PYTHONPATH": str(ROOT)}
        environment["TMPDIR"] = tempfile.mkdtemp(dir=tmp_path)  # as a scheduler may give one to each job
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", JOB, device, str(tmp_path)],
                env=environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
        return started[-1]

    yield job
    for process in started:
        process.kill()
        process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def first_complaint(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline().strip()


def test_two_jobs_hold_different_gpus_a_third_waits_and_a_kill_frees_one(start: Start) -> None:
    first, second = start(), start()
    assert {first_line(first), first_line(second)} == {"has 7", "has 8"}
    third = start()
    check(first_complaint(third))
    freed = 7 if "GPU 7 " in first_complaint(first) else 8
    first.send_signal(signal.SIGKILL)
    assert first_line(third) == f"has {freed}"
    assert second.poll() is None


def test_a_job_without_a_gpu_takes_none(start: Start) -> None:
    assert first_line(start(device="cpu")) == "has None"
    assert first_line(start(pool="")) == "has None"
