"""What is missing is said by Snakemake itself before its first job."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.running import ROOT, make_demo, programs_but, slurm_of, snakemake_command

MODEL = "models/rnnsearch-30/model.safetensors"


def test_a_partition_that_a_cluster_lacks_is_named_before_any_job(tmp_path: Path) -> None:
    overlay = make_demo(tmp_path)
    programs = slurm_of(tmp_path, "batch* 1:00 100000 (null)")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    options = ["--profile", "slurm", "--configfile", str(overlay)]
    options += ["--default-resources", "slurm_partition=cpu", "--", MODEL]
    command = snakemake_command(tmp_path, *options)
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode != 0
    assert "training: 1 run, " in result.stderr
    assert "error: slurm_partition: found 'cpu', which this cluster lacks; known: batch" in result.stderr
    assert not (tmp_path / "logs").exists()


def test_a_machine_without_slurm_is_told_before_any_job(tmp_path: Path) -> None:
    overlay = make_demo(tmp_path)
    environment = {
        **os.environ,
        "PATH": str(programs_but(tmp_path, {"scontrol", "sbatch", "squeue", "sinfo"})),
    }
    command = snakemake_command(tmp_path, "--profile", "slurm", "--configfile", str(overlay), "--", MODEL)
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode != 0
    assert "no Slurm on this machine" in result.stderr
    assert not (tmp_path / "logs").exists()
