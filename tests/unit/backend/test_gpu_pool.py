"""Jobs that share the GPUs of a machine, each a process of its own."""

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
gpu_pool.reserve_gpu(sys.argv[1])  # a job that has a GPU keeps it
print("has", os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
sys.stdin.read()
"""

StartJob = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_job(tmp_path: Path) -> Iterator[StartJob]:
    """Starts a job that keeps its GPU until it is ended."""
    jobs = []

    def start(device: str = "auto", pool: str = "7,8") -> subprocess.Popen[str]:
        environment = {**os.environ, "NMT_GPUS": pool, "PYTHONPATH": str(ROOT)}
        environment["TMPDIR"] = tempfile.mkdtemp(dir=tmp_path)  # as a scheduler may give one to each job
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, "-c", JOB, device, str(tmp_path)]
        jobs.append(subprocess.Popen(command, env=environment, text=True, **pipes))
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
        job.communicate()


def read_line(job: subprocess.Popen[str], stream: str = "stdout") -> str:
    line: str = getattr(job, stream).readline()
    return line.strip()


def test_jobs_share_gpus(start_job):
    """Two jobs have different GPUs, a third one waits, and gets that of a killed job."""
    first_job, second_job = start_job(), start_job()
    assert {read_line(first_job), read_line(second_job)} == {"has 7", "has 8"}
    waiting_job = start_job()
    check(read_line(waiting_job, "stderr"))
    freed_gpu = 7 if "GPU 7 " in read_line(first_job, "stderr") else 8
    first_job.send_signal(signal.SIGKILL)
    assert read_line(waiting_job) == f"has {freed_gpu}"
    assert second_job.poll() is None


def test_cpu_job_reserves_no_gpu(start_job):
    assert read_line(start_job(device="cpu")) == "has None"
    assert read_line(start_job(pool="")) == "has None"
