"""Checks before a long run of what it needs, and forecasts of its time and disk space."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nmt.backend import gpu_pool
from nmt.environment import environment
from pipeline import kenlm
from pipeline.config.checkout import REPOSITORY
from pipeline.config.finished_models import in_danger
from pipeline.monitor.forecast import disk_bytes, in_words, training_times
from pipeline.monitor.jobs import CHECK_ONLY, JobList
from pipeline.monitor.partition_check import unsatisfiable
from pipeline.phrase_based import programs as phrase_based

SECONDS = 900
"""Time limit for Snakemake's check, which takes seconds: a file system may hang."""


# --- what is missing --------------------------------------------------------------------------------------------------


def missing(listed: JobList, folder: Path, sent: bool = False, status: str | None = None) -> list[str]:
    """Return what is lacking for the work that is about to be done, one line each.

    Args:
        listed: the run's jobs.
        folder: where the run writes.
        sent: whether jobs go to a cluster, those apart that run beside Snakemake.
        status: the executor's program that tells their states.
    """
    finished = in_danger(listed.config, listed.trained, {job.rule for job in listed.due}, folder)
    builds = {"kenlm_programs": kenlm.problem, "moses_programs": phrase_based.problem}
    rules = {job.rule for job in listed.due}  # both build beside Snakemake, on this machine
    found = [_slurm(listed, status) if sent else _gpu(listed), _disk(listed, folder)]
    found += [problem() for rule, problem in builds.items() if rule in rules]
    cluster = unsatisfiable(listed.due) if sent else []
    return [*finished, *(problem for problem in found if problem), *cluster]


def _slurm(listed: JobList, status: str | None) -> str | None:
    # of sbatch, squeue and others the project has programs of its own, which call Slurm's
    if listed.due and status and not shutil.which("scontrol"):
        return "no Slurm on this machine: run where sbatch is, or without --profile slurm"
    return None


def _gpu(listed: JobList) -> str | None:
    config = listed.config
    wanted = (
        {config.models[model].training.device for model in config.use.models} if listed.trained else set()
    )
    if any(job.resources.get("gpu") for job in listed.due if job.stage != "train"):
        wanted |= {config.decoding.device, *(system.decoding.device for system in config.systems.values())}
    if "cuda" not in wanted or gpu_pool.gpu_evidence():
        return None
    return (
        "training.device or decoding.device is `cuda`, but this machine shows no NVIDIA GPU: run on a cluster"
        " (--profile slurm), choose a smaller experiment, or say `device: auto`"
    )


def _disk(listed: JobList, folder: Path) -> str | None:
    parts = disk_bytes(listed.config, folder, listed.fetched, listed.trained)
    needed, free = sum(parts.values()), shutil.disk_usage(folder).free
    if free >= needed:
        return None
    return f"{folder}: {_gigabytes(free)} free, but {_parts(parts)} need about {_gigabytes(needed)}"


# --- what it will take ------------------------------------------------------------------------------------------------


def forecast(listed: JobList, folder: Path) -> list[str]:
    """Return hours and disk that the work will take, a line each."""
    lines, config, runs = [], listed.config, listed.trained
    if runs:
        number = f"{len(runs)} {'runs' if len(runs) > 1 else 'run'}"
        lines.append(f"training: {number}, {in_words(config, training_times(config, folder, runs))}")
    parts = disk_bytes(config, folder, listed.fetched, runs)
    if any(parts.values()):
        free = _gigabytes(shutil.disk_usage(folder).free)
        lines.append(f"disk: needs {_gigabytes(sum(parts.values()))} ({_parts(parts)}), {free} are free")
    unknown = [archive for archive in listed.fetched if config.archives[archive].bytes is None]
    if unknown:
        lines.append(f"disk: not counted, sizes unknown: {', '.join(unknown)}")
    return lines


def _parts(parts: dict[str, int]) -> str:
    return ", ".join(f"{name} {_gigabytes(size)}" for name, size in parts.items() if size)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{max(1, round(size / 1e6))} MB"


# --- as a command -----------------------------------------------------------------------------------------------------


def check(folder: Path, options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what the work in a folder will take, and what is missing. Snakemake tells it, and then ends.

    Args:
        folder: the experiment's.
        options: Snakemake's, as for a run.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    command += ["--directory", str(folder), "--nolock", "--rerun-incomplete"]
    result = subprocess.run(
        [*command, "--quiet", "host", "progress", "rules", "reason", *options, "--", "all", "preflight"],
        env={**os.environ, **environment(folder), CHECK_ONLY: "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if result.returncode:
        lines = result.stderr.strip().splitlines()
        problems = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        told = problems or [f"{folder}: Snakemake says: {lines[-1] if lines else 'nothing'}"]
        return result.stdout.splitlines(), told
    return result.stdout.splitlines(), []
