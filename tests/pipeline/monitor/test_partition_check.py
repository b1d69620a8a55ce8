"""Jobs that the partitions of a cluster cannot run are found before any is submitted."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.monitor.jobs import Job
from pipeline.monitor.partition_check import find_unsatisfiable_jobs

SINFO = """\
cpu* 12:00:00 64000 (null)
gpu 2-00:00:00 512000 gpu:a100:4
gpu 2-00:00:00 1000000 gpu:h200:8(S:0-1),shard:8
long infinite 1 gpu:2
"""


@pytest.fixture(autouse=True)
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program `sinfo` that prints the file sinfo.txt: `SINFO`."""
    (tmp_path / "sinfo.txt").write_text(SINFO, encoding="utf-8")
    (tmp_path / "sinfo").write_text(f"#!/bin/sh\ncat '{tmp_path}/sinfo.txt'\n", encoding="utf-8")
    (tmp_path / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def make_job(rule: str, partition: str = "", minutes: int = 0, **resources: object) -> Job:
    resources |= {"slurm_partition": partition, "runtime": minutes}
    log = f"logs/{rule}/a.log"
    return Job(rule, {}, (), log, is_pending=True, is_local=False, resources=resources)


def training_job(partition: str = "gpu", minutes: int = 2880, **resources: object) -> Job:
    return make_job("train", partition, minutes, gpu=1, time_limit_key="train_hours", **resources)


def test_jobs_that_fit_have_no_problems() -> None:
    assert find_unsatisfiable_jobs([training_job(), training_job("long", 60_000)]) == []
    jobs = [make_job("prepare", "cpu,gpu", 2880), make_job("extract", minutes=720)]
    assert find_unsatisfiable_jobs(jobs) == []
    assert find_unsatisfiable_jobs([replace(make_job("tables", "cpus"), is_local=True)]) == []
    # a quality of service may grant more time
    assert find_unsatisfiable_jobs([training_job(minutes=7200, qos="long")]) == []


def test_unknown_partition_is_named_once() -> None:
    (line,) = find_unsatisfiable_jobs([make_job("extract", "cpus"), make_job("prepare", "cpus")])
    assert "found 'cpus'" in line and "known: cpu, gpu, long" in line


@pytest.mark.parametrize("partition", ["cpu", ""])
def test_partition_without_gpu(partition: str) -> None:
    (line,) = find_unsatisfiable_jobs([training_job(partition)])
    assert "jobs with a GPU" in line


@pytest.mark.parametrize("job", [training_job(minutes=2881), make_job("extract", minutes=900)])
def test_too_much_time(job: Job) -> None:
    (line,) = find_unsatisfiable_jobs([make_job(job.rule, "long"), job])
    assert f"{job.rule}: a job asks for" in line


def test_too_much_memory() -> None:
    assert find_unsatisfiable_jobs([training_job(mem_mb=600_000)]) == []
    (line,) = find_unsatisfiable_jobs(
        [training_job(mem_mb=600_000, gpu_model="a100"), training_job(mem_mb=1)]
    )
    assert "train: a job asks for 600 GB" in line and "set resources.train_memory_gb to 512 or less" in line
    # memory by core, and a node whose memory Slurm does not know
    assert find_unsatisfiable_jobs([training_job(mem_mb=2_000_000, mem_mb_per_cpu=8000)]) == []
    assert find_unsatisfiable_jobs([training_job("long", mem_mb=2_000_000)]) == []


@pytest.mark.parametrize(
    ("partition", "words"), [("gpu", "did you mean `h200`?; known: a100, h200"), ("long", "have no type")]
)
def test_unknown_type_of_gpu(partition: str, words: str) -> None:
    assert find_unsatisfiable_jobs([training_job(gpu_model="h200")]) == []
    (line,) = find_unsatisfiable_jobs([training_job(partition, gpu_model="h100")])
    assert "gpu_model: found 'h100'" in line and words in line


def test_advised_hours_are_granted(slurm: Path) -> None:
    (slurm / "sinfo.txt").write_text(SINFO.replace("gpu 2-00:00:00", "gpu 01:40:00"), encoding="utf-8")
    (line,) = find_unsatisfiable_jobs([training_job(minutes=120)])
    (hours,) = re.findall(r"set resources.train_hours to (\S+) or less", line)
    assert find_unsatisfiable_jobs([training_job(minutes=int(60 * float(hours)))]) == []


def test_silent_slurm_is_no_problem(slurm: Path) -> None:
    (slurm / "sinfo").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert find_unsatisfiable_jobs([training_job("nowhere")]) == []
