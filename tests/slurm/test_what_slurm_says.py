"""What a real Slurm says of itself is understood as the preflight and the trainer understand it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipeline.monitor.partition_check import Cluster, ResourceRequest, unsatisfiable
from pipeline.monitor.slurm import Nodes, Partitions, configuration, partitions
from tests.running import ROOT
from tests.slurm import cluster as slurm

TIME_LEFT = "from nmt.io.system import seconds_left; print(seconds_left())"


@pytest.mark.slow
def test_partitions_configuration_and_the_time_that_a_job_has_left(
    cluster: slurm.Cluster, tmp_path: Path
) -> None:
    nodes = [Nodes(86400, True)]
    assert partitions() == Partitions({"cpu": nodes, "gpu": nodes, "urgent": nodes}, "cpu")
    assert configuration()["MinJobAge"] == "600 sec"
    assert unsatisfiable(Cluster((ResourceRequest("train", "gpu", 1440, gpu=True),), "squeue")) == []
    (line,) = unsatisfiable(Cluster((ResourceRequest("train", "gpu", 1441, gpu=True),), "squeue"))
    assert "grants 24:" in line

    command = ["sbatch", "--parsable", "--wait", "--partition=cpu", "--time=10", f"--chdir={ROOT}"]
    command += [f"--output={tmp_path}/%j.log", f"--wrap={sys.executable} -c '{TIME_LEFT}'"]
    result = slurm.run(*command)
    (log,) = tmp_path.glob("*.log")
    assert 540 < float(log.read_text(encoding="utf-8")) <= 600, result.stderr
