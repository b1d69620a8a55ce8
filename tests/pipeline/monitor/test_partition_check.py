"""What a cluster cannot run, or not be asked about, is known before anything is sent: tests/slurm asks a real one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.monitor.jobs import Job
from pipeline.monitor.partition_check import Cluster, ResourceRequest, unsatisfiable

TRAIN = ResourceRequest("train", "gpu", minutes=2880, gpu=True, limited_by="train_hours")
SINFO = """\
cpu* 12:00:00 (null)
gpu 2-00:00:00 gpu:a100:4
gpu 2-00:00:00 gpu:h200:8(S:0-1),shard:8
long infinite gpu:2
"""


@pytest.fixture(autouse=True)
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that say what files of it hold: `sinfo` of SINFO, `scontrol` nothing yet."""
    for name, text in {"sinfo": SINFO, "scontrol": ""}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        (tmp_path / name).write_text(f"#!/bin/sh\ncat '{tmp_path}/{name}.txt'\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def of(*requests: ResourceRequest) -> list[str]:
    return unsatisfiable(Cluster(requests))


def test_what_fits() -> None:
    assert of(TRAIN, replace(TRAIN, partition="long", minutes=60_000)) == []
    assert of(ResourceRequest("tokenize", "cpu,gpu", 2880), ResourceRequest("clean", "", 720)) == []


def test_names_that_the_cluster_lacks() -> None:
    (line,) = of(ResourceRequest("clean", "cpus"), ResourceRequest("tokenize", "cpus"))
    assert "found 'cpus'" in line and "known: cpu, gpu, long" in line


def test_a_gpu_where_there_is_none_and_the_cluster_s_own_choice_is_looked_at_too() -> None:
    (line,) = of(replace(TRAIN, partition="cpu"))
    assert "found cpu, none of whose nodes has a GPU" in line
    (line,) = of(replace(TRAIN, partition=""), replace(TRAIN, rule="translate", partition=""))
    assert "found cpu, none of whose nodes has a GPU" in line


def test_time() -> None:
    for request in (replace(TRAIN, minutes=2881), ResourceRequest("extract", minutes=900)):
        (line,) = of(request)
        assert f"{request.rule}: a job asks for" in line
    assert of(replace(TRAIN, minutes=7200, lifted=True)) == []  # a quality of service may grant more


def test_the_advised_hours_are_granted(slurm: Path) -> None:
    (slurm / "sinfo.txt").write_text(SINFO.replace("gpu 2-00:00:00", "gpu 01:40:00"), encoding="utf-8")
    (line,) = of(replace(TRAIN, minutes=120))
    (advised,) = re.findall(r"set resources.train_hours to (\S+) or less", line)
    assert of(replace(TRAIN, minutes=60 * float(advised))) == []


def test_a_scheduler_that_does_not_answer_is_no_problem(slurm: Path) -> None:
    for name in ("sinfo", "scontrol"):
        (slurm / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert unsatisfiable(Cluster((replace(TRAIN, partition="nowhere"),), "sacct")) == []


@pytest.mark.parametrize(
    ("status", "age", "known"), [("squeue", "300", True), ("squeue", "30", False), ("sacct", "30", True)]
)
def test_states_of_jobs_must_be_known(slurm: Path, status: str, age: str, known: bool) -> None:
    (slurm / "scontrol.txt").write_text(f"MinJobAge               = {age} sec\n", encoding="utf-8")
    assert (unsatisfiable(Cluster((), status)) == []) == known


def test_of_jobs_that_are_alike_the_longest_counts() -> None:
    def job(**resources: object) -> Job:
        return Job("clean", {}, (), (), "logs/clean/a.log", True, False, resources)

    jobs = [job(slurm_partition="cpu", runtime=30), job(slurm_partition="cpu"), job(runtime=5, gpu=1)]
    assert Cluster.of_jobs(jobs).requests == (
        ResourceRequest("clean", "cpu", 30),
        ResourceRequest("clean", "", 5, gpu=True),
    )
