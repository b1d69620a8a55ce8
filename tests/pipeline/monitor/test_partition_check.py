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
2080 2-00:00:00 512000 gpu:3090:8(S:0-1),gpu:a100-80gb:2
"""


@pytest.fixture(autouse=True)
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program `sinfo` that prints the file sinfo.txt: `SINFO`. All partitions are hidden."""
    (tmp_path / "sinfo.txt").write_text(SINFO, encoding="utf-8")
    script = f"""#!/bin/sh\n[ "$1" != --all ] || cat '{tmp_path}/sinfo.txt'\n"""
    (tmp_path / "sinfo").write_text(script, encoding="utf-8")
    (tmp_path / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def make_job(rule: str, partition: object = "", minutes: int = 0, **resources: object) -> Job:
    resources |= {"slurm_partition": partition, "runtime": minutes}
    return Job(rule, {}, f"logs/{rule}/a.log", is_local=False, resources=resources)


def training_job(partition: str = "gpu", minutes: int = 2880, **resources: object) -> Job:
    return make_job("train", partition, minutes, gpu=1, **resources)


@pytest.mark.parametrize(
    "job",
    [
        training_job(),
        training_job("long", 60_000),
        make_job("prepare", "cpu,gpu", 2880),
        make_job("extract", minutes=720),
        replace(make_job("tables", "cpus"), is_local=True),
        training_job(minutes=7200, qos="long"),  # a quality of service may grant more time
        training_job(mem_mb=600_000),
        training_job(mem_mb=2_000_000, mem_mb_per_cpu=8000),
        training_job("long", mem_mb=2_000_000),  # Slurm does not know the memory of this node
        training_job(gpu_model="h200"),
        make_job("train", 2080, 2880, gpu=1),
        training_job("2080", gpu_model="3090"),
    ],
)
def test_jobs_that_fit_have_no_problems(job):
    assert find_unsatisfiable_jobs([job]) == []


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        (make_job("extract", "cpus"), "found 'cpus', .*known: 2080, cpu, gpu, long"),
        (training_job("cpu"), "jobs ask for a GPU; partition cpu has: none"),
        (training_job(""), "jobs ask for a GPU; the default partition has: none"),
        (training_job(minutes=2881), "train: a job asks for .* grants 48: .*`resources`"),
        (make_job("extract", minutes=900), "extract: a job asks for"),
        # 48 hours, with three digits
        (training_job(minutes=2882), "asks for 48.0333 hours.* grants 48:"),
        (
            training_job(mem_mb=600_000, gpu_model="a100"),
            "train: a job asks for 600 GB .*more than 512: .*`resources`",
        ),
        (training_job(gpu_model="h100"), "of type h100; partition gpu has: a100, h200"),
        (training_job("long", gpu_model="h100"), "of type h100; partition long has: without a type"),
        # Snakemake's executor would refuse these types
        (training_job("2080", gpu_model="a100-80gb"), "cannot request a100-80gb, .*`constraint`"),
        (training_job("2080", gpu_model=3090), "cannot request 3090, .*`constraint`"),
    ],
)
def test_problem_of_a_job_is_named_once(job, problem):
    (line,) = find_unsatisfiable_jobs([make_job("prepare", "cpu"), job, job])
    assert re.search(problem, line)


def test_silent_slurm_is_no_problem(slurm):
    (slurm / "sinfo").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert find_unsatisfiable_jobs([training_job("nowhere")]) == []
