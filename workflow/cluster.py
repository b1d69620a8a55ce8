"""What a Snakemake that sends jobs to Slurm needs beyond the executor's own: see docs/cluster.md."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[1] / "slurm" / "bin"


def use_own_programs() -> None:
    """Let the executor find this project's sbatch, squeue and sacct, which stand before Slurm's and call them."""
    os.environ["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"


def doubles(rule: str, wildcard: str) -> list[str]:
    """Ids of the user's jobs, waiting or running, of one rule with one wildcard in the experiment at hand.

    A job is known by the log that the executor gives it, below the experiment's folder.
    """
    if not shutil.which("squeue"):
        return []
    logs = f"{Path('.snakemake', 'slurm_logs', f'rule_{rule}', wildcard).resolve()}/"
    query = ["squeue", "--me", "--noheader", "--Format=JobID:20,StdOut:4096"]
    queue = subprocess.run(query, capture_output=True, text=True, check=False, timeout=60)
    return [line.split()[0] for line in queue.stdout.splitlines() if f" {logs}" in line]
