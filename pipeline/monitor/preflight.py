"""Checks before a long run of what it needs, and forecasts of its time and disk space."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nmt.backend import gpu_pool
from nmt.environment import REPOSITORY, environment
from nmt.errors import UserError
from nmt.store.result_store import TrainingStore
from pipeline import kenlm
from pipeline.config.folder import ExperimentFolder
from pipeline.config.runs import collect_runs
from pipeline.config.schema import Config
from pipeline.monitor.forecast import estimate_disk_bytes, estimate_training_times, in_words
from pipeline.monitor.jobs import CHECK_ONLY, JobList
from pipeline.monitor.partition_check import find_unsatisfiable_jobs
from pipeline.phrase_based import programs as phrase_based

SECONDS = 900
"""Time limit for Snakemake's check, which takes seconds: a file system may hang."""


# --- what is missing --------------------------------------------------------------------------------------------------


def find_problems(listed: JobList, submits: bool = False, status: str | None = None) -> list[str]:
    """Return what is lacking for the work that is about to be done, one line each.

    Args:
        listed: the run's jobs.
        submits: whether jobs are submitted to a cluster, those apart that run beside Snakemake.
        status: the executor's program that tells their states.
    """
    builds = {"kenlm_programs": kenlm.problem, "moses_programs": phrase_based.explain_missing_moses}
    rules = {job.rule for job in listed.pending_jobs}  # both build beside Snakemake, on this machine
    found = [_slurm(listed, status) if submits else _gpu(listed)]
    found += [problem() for rule, problem in builds.items() if rule in rules]
    cluster = find_unsatisfiable_jobs(listed.pending_jobs) if submits else []
    return [*(problem for problem in found if problem), *cluster]


def _slurm(listed: JobList, status: str | None) -> str | None:
    # of sbatch, squeue and others the project has programs of its own, which call Slurm's
    if listed.pending_jobs and status and not shutil.which("scontrol"):
        return "no Slurm on this machine: run where sbatch is, or without --profile slurm"
    return None


def _gpu(listed: JobList) -> str | None:
    config = listed.config
    all_runs = collect_runs(config, list(config.models))
    wanted = {config.models[all_runs[run].model].training.device for run in unfinished(listed, Path())}
    if any(job.resources.get("gpu") for job in listed.pending_jobs if job.stage != "train"):
        wanted |= {config.decoding.device, *(system.decoding.device for system in config.systems.values())}
    if "cuda" not in wanted or gpu_pool.has_gpu_evidence():
        return None
    return (
        "training.device or decoding.device is `cuda`, but this machine shows no NVIDIA GPU: run on a cluster"
        " (--profile slurm), choose a smaller experiment, or say `device: auto`"
    )


def unfinished(listed: JobList, folder: Path) -> list[str]:
    """Return the runs whose jobs will train: those of which no store has the finished model.

    Of text that is to be made first nobody knows whether it is that of a finished training.
    """
    files = ExperimentFolder(listed.config, folder)
    text_is_due = any(job.rule in ("binarize", "moses_phrase_ids") for job in listed.pending_jobs)
    return [run for run in listed.runs_to_train if text_is_due or files.find_finished_model(run) is None]


# --- what it will take ------------------------------------------------------------------------------------------------


def describe_forecast(listed: JobList, folder: Path) -> list[str]:
    """Return what the work will take: hours and disk, and what each training begins with, a line each."""
    config, runs = listed.config, unfinished(listed, folder)
    lines = []
    if runs:
        number = f"{len(runs)} {'runs' if len(runs) > 1 else 'run'}"
        lines.append(f"training: {number}, {in_words(config, estimate_training_times(config, folder, runs))}")
    lines += (line for run in runs for line in _begins_anew(config, folder, run))
    parts = estimate_disk_bytes(config, folder, listed.archives_to_download, listed.corpora_to_extract, runs)
    needed, free = sum(parts.values()), shutil.disk_usage(folder).free
    if needed:
        warning = "" if needed <= free else "warning: "
        lines.append(
            f"{warning}disk: needs {_gigabytes(needed)} ({_parts(parts)}), {_gigabytes(free)} are free"
        )
    unknown = [archive for archive in listed.archives_to_download if config.archives[archive].bytes is None]
    if unknown:
        lines.append(f"disk: not counted, sizes unknown: {', '.join(unknown)}")
    return lines


def _begins_anew(config: Config, folder: Path, run: str) -> list[str]:
    """Return a line if a run was trained before, but not as the settings and the prepared text ask for."""
    files = ExperimentFolder(config, folder)
    if files.find_training_state(run):
        return []
    try:
        facts = files.find_expected_model(run).facts
    except UserError:  # the text is not prepared
        return []
    change = TrainingStore(files.store).describe_changes(run, facts)
    return [f"{run}: a new training, since {change}"] if change else []


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
