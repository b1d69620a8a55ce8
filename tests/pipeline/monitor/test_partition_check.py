"""What a cluster cannot run, or not be asked about, is known before anything is sent: tests/slurm asks a real one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_executor_plugin_slurm.utils import set_gres_string
from snakemake_interface_common.exceptions import WorkflowError

from pipeline.monitor.partition_check import Cluster, ResourceRequest, greatest, unsatisfiable
from tests.messages import check

TRAIN = ResourceRequest(
    "train", "gpu", minutes=2880, megabytes=32_000, gpu=True, gpu_model="h200", limited_by="train_hours"
)
SINFO = """\
cpu* 12:00:00 200000 (null)
gpu 2-00:00:00 64000 gpu:a100:4
gpu 2-00:00:00 500000+ gpu:h200:8(S:0-1),shard:8
long infinite 900000 gpu:2
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
    assert of(TRAIN, replace(TRAIN, partition="long", gpu_model="", minutes=60_000)) == []
    assert (
        of(
            ResourceRequest("tokenize", "cpu,gpu", 2880, 500_000),
            ResourceRequest("clean"),
            ResourceRequest("clean", "", 720, 200_000),
        )
        == []
    )


def test_names_that_the_cluster_lacks() -> None:
    (line,) = of(ResourceRequest("clean", "cpus"), ResourceRequest("tokenize", "cpus"))
    check(line)


def test_a_gpu_where_there_is_none_and_the_cluster_s_own_choice_is_looked_at_too() -> None:
    (line,) = of(replace(TRAIN, partition="cpu"))
    check(line)
    (line,) = of(replace(TRAIN, partition=""), replace(TRAIN, rule="translate", partition=""))
    check(line)


def test_a_type_of_gpu() -> None:
    for changed in (replace(TRAIN, gpu_model="v100"), replace(TRAIN, partition="long")):
        (line,) = of(changed)
        check(line)


def test_a_type_of_gpu_that_the_executor_cannot_send(slurm: Path) -> None:
    (slurm / "sinfo.txt").write_text(SINFO.replace("h200", "h200-141g"), encoding="utf-8")
    (line,) = of(replace(TRAIN, gpu_model="h200-141g"))
    check(line)
    # it is the executor itself that refuses
    job = SimpleNamespace(resources={"gpu": 1, "gpu_model": "h200-141g"})
    with pytest.raises(WorkflowError, match="Invalid GPU model format"):
        set_gres_string(job)


def test_time() -> None:
    for request in (replace(TRAIN, minutes=2881), ResourceRequest("extract", minutes=900)):
        (line,) = of(request)
        check(line)
    assert of(replace(TRAIN, minutes=7200, lifted=True)) == []  # a quality of service may grant more


def test_the_advised_hours_are_granted(slurm: Path) -> None:
    (slurm / "sinfo.txt").write_text(SINFO.replace("gpu 2-00:00:00", "gpu 01:40:00"), encoding="utf-8")
    (line,) = of(replace(TRAIN, minutes=120))
    (advised,) = re.findall(r"set resources.train_hours to (\S+) or less", line)
    assert of(replace(TRAIN, minutes=60 * float(advised))) == []


def test_memory_is_that_of_one_node_and_with_a_gpu_of_one_that_has_some() -> None:
    for request in (replace(TRAIN, megabytes=600_000), ResourceRequest("select", "cpu", 60, 200_001)):
        (line,) = of(request)
        check(line)


def test_a_scheduler_that_does_not_answer_is_no_problem(slurm: Path) -> None:
    for name in ("sinfo", "scontrol"):
        (slurm / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert unsatisfiable(Cluster((replace(TRAIN, partition="nowhere"),), "sacct")) == []


@pytest.mark.parametrize(
    ("status", "age", "storage", "known"),
    [
        ("squeue", "300 sec", "none", True),
        ("squeue", "30 sec", "none", False),
        ("squeue", "30 sec", "slurmdbd", False),
        ("sacct", "30 sec", "slurmdbd", True),
        ("sacct", "300 sec", "none", False),
        (None, "30 sec", "none", True),
    ],
)
def test_states_of_jobs_must_be_known(
    slurm: Path, status: str | None, age: str, storage: str, known: bool
) -> None:
    said = f"AccountingStorageType   = accounting_storage/{storage}\nMinJobAge               = {age}\n"
    (slurm / "scontrol.txt").write_text(said, encoding="utf-8")
    lines = unsatisfiable(Cluster((), status))
    assert len(lines) == (not known)
    for line in lines:
        check(line)


def test_the_greatest_of_requests_that_are_alike() -> None:
    jobs = [
        ResourceRequest("clean", "cpu", 30, 2000),
        ResourceRequest("clean", "cpu", None, 4000),
        ResourceRequest("clean", "cpu", 60, None),
    ]
    assert greatest([*jobs, TRAIN]) == (ResourceRequest("clean", "cpu", 60, 4000), TRAIN)
