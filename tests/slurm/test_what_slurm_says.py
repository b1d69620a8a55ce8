"""What a real Slurm says of itself is understood as the preflight and the trainer understand it."""

import sys
from dataclasses import replace

import pytest

from pipeline.monitor.jobs import Job
from pipeline.monitor.partition_check import NodeGroup, find_unsatisfiable_jobs, query_partitions
from tests.running import ROOT
from tests.slurm import cluster as slurm

TIME_LEFT = "from nmt.io.system import slurm_seconds_left; print(slurm_seconds_left())"


@pytest.mark.slow
def test_partitions_and_time_left(cluster, tmp_path):
    groups = [NodeGroup(86400, 100000, frozenset({""}))]
    assert query_partitions() == {"": groups, "cpu": groups, "gpu": groups, "urgent": groups}
    resources = {"slurm_partition": "gpu", "gpu": 1, "runtime": 1440}
    job = Job("train", {}, "logs/train/a.log", False, resources)
    assert find_unsatisfiable_jobs([job]) == []
    (line,) = find_unsatisfiable_jobs([replace(job, resources=resources | {"runtime": 1441})])
    assert "grants 24:" in line
    (line,) = find_unsatisfiable_jobs([replace(job, resources=resources | {"mem_mb": 100_001})])
    assert "more than 100:" in line
    (line,) = find_unsatisfiable_jobs([replace(job, resources=resources | {"gpu_model": "h100"})])
    assert "without a type" in line

    command = ["sbatch", "--parsable", "--wait", "--partition=cpu", "--time=10", f"--chdir={ROOT}"]
    command += [f"--output={tmp_path}/%j.log", f"--wrap={sys.executable} -c '{TIME_LEFT}'"]
    result = slurm.run(*command)
    (log,) = tmp_path.glob("*.log")
    assert 540 < float(log.read_text(encoding="utf-8")) <= 600, result.stderr
