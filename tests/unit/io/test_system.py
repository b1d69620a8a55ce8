"""What records say of code and packages, and the time that a job of Slurm has left."""

import json
import math
import os
import platform
import subprocess
import time
from pathlib import Path

import pytest
import torch

from nmt.io import system
from nmt.io.system import parse_slurm_duration, seconds_until_stop, slurm_seconds_left
from tests.running import hanging


def run_git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "REPOSITORY", tmp_path)


def test_commit_and_changed_files(tmp_path):
    assert system.describe_code()["commit"] is None and system.describe_code()["dirty"] is None
    run_git(tmp_path, "init", "-q")
    assert system.describe_code()["commit"] is None
    (tmp_path / "a").write_text("1", encoding="utf-8")
    run_git(tmp_path, "add", "a")
    run_git(tmp_path, "commit", "-q", "-m", "one")
    code = system.describe_code()
    assert code["commit"] == run_git(tmp_path, "rev-parse", "HEAD") and code["dirty"] is False
    (tmp_path / "untracked").touch()
    assert system.describe_code()["dirty"] is False
    (tmp_path / "a").write_text("2", encoding="utf-8")
    assert system.describe_code()["dirty"] is True


def test_hanging_programs_stop_nothing(tmp_path, monkeypatch):
    run_git(tmp_path, "init", "-q")
    hanging("git", tmp_path, monkeypatch)
    assert system.describe_code()["commit"] is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_commit_of_other_user_s_checkout(tmp_path):
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit = run_git(tmp_path, "rev-parse", "HEAD")
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 12345, 12345)
    assert system.describe_code()["commit"] == commit


def test_processor_has_what_decides_kernels(tmp_path, monkeypatch):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(
        "model name\t: AMD EPYC\nflags\t\t: fpu avx avx2 avx512f serialize\n", encoding="utf-8"
    )
    monkeypatch.setattr(system, "CPUINFO", cpuinfo)
    monkeypatch.setenv("MKL_CBWR", "AVX2")
    assert system.describe_processor() == {
        "model": "AMD EPYC",
        "flags": ["avx", "avx2", "avx512f"],
        "variables": {"MKL_CBWR": "AVX2"},
        "torch_level": torch.backends.cpu.get_cpu_capability(),
    }


def test_records_name_no_user_or_host():
    record = json.dumps(system.describe_environment())
    assert str(Path.home()) not in record
    assert platform.node() not in record


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1-02:03:04", 93784),
        ("03:04", 184),
        ("59", 59),
        ("infinite", math.inf),
        ("UNLIMITED", math.inf),
        ("INVALID", None),
        ("", None),
    ],
)
def test_parse_slurm_duration(text, expected):
    assert parse_slurm_duration(text) == expected


def test_time_left_of_a_job(tmp_path, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.delenv("SLURM_JOB_END_TIME", raising=False)
    assert slurm_seconds_left() is None
    assert seconds_until_stop(60) == math.inf

    # without an end in the environment, squeue knows it
    squeue = tmp_path / "squeue"
    squeue.write_text('#!/bin/sh\n[ "$2" = --jobs=17 ] && echo 1:00:30\n', encoding="utf-8")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert slurm_seconds_left() == 3630
    monkeypatch.setenv("SLURM_JOB_ID", "18")
    assert slurm_seconds_left() is None
    assert seconds_until_stop(60) == 3300

    # work stops five minutes, or a fifth of the time, before the end
    for seconds, seconds_of_work in ((3600, 3300), (100, 80)):
        monkeypatch.setenv("SLURM_JOB_END_TIME", str(int(time.time()) + seconds))
        assert slurm_seconds_left() == pytest.approx(seconds, abs=10)
        assert seconds_until_stop(60_000) == pytest.approx(seconds_of_work, abs=10)
