"""What a cluster cannot run is known before anything is sent: tests/slurm asks a real one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.monitor.jobs import Job
from pipeline.monitor.partition_check import find_unsatisfiable_jobs

SINFO = """\
cpu* 12:00:00 (null)
gpu 2-00:00:00 gpu:a100:4
gpu 2-00:00:00 gpu:h200:8(S:0-1),shard:8
long infinite gpu:2
"""


@pytest.fixture(autouse=True)
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program `sinfo` that says what a file of it holds: SINFO."""
    (tmp_path / "sinfo.txt").write_text(SINFO, encoding="utf-8")
    (tmp_path / "sinfo").write_text(f"#!/bin/sh\ncat '{tmp_path}/sinfo.txt'\n", encoding="utf-8")
    (tmp_path / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def a_job(rule: str, partition: str = "", minutes: int = 0, **more: object) -> Job:
    resources = {"slurm_partition": partition, "runtime": minutes, **more}
    return Job(rule, {}, (), f"logs/{rule}/a.log", is_pending=True, local=False, resources=resources)


def train(partition: str = "gpu", minutes: int = 2880, **more: object) -> Job:
    return a_job("train", partition, minutes, gpu=1, time_setting="train_hours", **more)


def of(*jobs: Job) -> list[str]:
    return find_unsatisfiable_jobs(jobs)


def test_what_fits() -> None:
    assert of(train(), train("long", 60_000)) == []
    assert of(a_job("tokenize", "cpu,gpu", 2880), a_job("clean", minutes=720)) == []
    assert of(replace(a_job("tables", "cpus"), local=True)) == []


def test_names_that_the_cluster_lacks() -> None:
    (line,) = of(a_job("clean", "cpus"), a_job("tokenize", "cpus"))
    assert "found 'cpus'" in line and "known: cpu, gpu, long" in line


def test_a_gpu_where_there_is_none_and_the_cluster_s_own_choice_is_looked_at_too() -> None:
    (line,) = of(train("cpu"))
    assert "found cpu, none of whose nodes has a GPU" in line
    (line,) = of(train(""))
    assert "found cpu, none of whose nodes has a GPU" in line


def test_time() -> None:
    for job in (train(minutes=2881), a_job("extract", minutes=900)):
        (line,) = of(a_job(job.rule, "long"), job)
        assert f"{job.rule}: a job asks for" in line
    assert of(train(minutes=7200, qos="long")) == []  # a quality of service may grant more


def test_the_advised_hours_are_granted(slurm: Path) -> None:
    (slurm / "sinfo.txt").write_text(SINFO.replace("gpu 2-00:00:00", "gpu 01:40:00"), encoding="utf-8")
    (line,) = of(train(minutes=120))
    (advised,) = re.findall(r"set resources.train_hours to (\S+) or less", line)
    assert of(train(minutes=int(60 * float(advised)))) == []


def test_a_scheduler_that_does_not_answer_is_no_problem(slurm: Path) -> None:
    (slurm / "sinfo").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert of(train("nowhere")) == []
