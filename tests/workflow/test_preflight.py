"""What is missing is said by Snakemake itself before its first job."""

import os
import subprocess

from tests.running import ROOT, make_demo, programs_but, snakemake_command

MODEL = "models/rnnsearch-30/model.safetensors"


def test_missing_slurm_is_reported_before_any_job(tmp_path):
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
