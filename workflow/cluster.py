"""What a Snakemake that sends jobs to Slurm needs beyond the executor's own: see docs/cluster.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[1] / "slurm" / "bin"


def use_own_programs(niceness: Mapping[str, int]) -> None:
    """Let the executor find this project's sbatch, squeue and the like, which stand before Slurm's and call them.

    Args:
        niceness: how much later than others the training job of each run is to start, as sbatch's --nice.
    """
    os.environ["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    os.environ["NMT_HEAD"] = str(os.getpid())
    os.environ["NMT_NICE"] = " ".join(f"rule_train_wildcards_{run}={nice}" for run, nice in niceness.items())
    # sbatch hands the environment on: a pool of this machine's GPUs would take the place of what Slurm grants
    os.environ.pop("NMT_GPUS", None)


def stated_hours(overwritten: Mapping[str, Mapping[str, Any]], rule: str) -> float | None:
    """The time limit that `set-resources` of a profile gives a rule's jobs instead of the rule's own, if it does.

    Args:
        overwritten: Snakemake's resources by rule and name.
        rule: whose.
    """
    limit = overwritten.get(rule, {}).get("runtime")
    if limit is None or limit.is_evaluable() or not isinstance(limit.value, int):
        return None
    return limit.value / 60
