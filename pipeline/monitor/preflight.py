"""Checks before a long run of what it needs, and a forecast of its time and disk space."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.backend import gpu_pool
from nmt.environment import REPOSITORY, child_environment
from nmt.io.files import read_json
from nmt.io.messages import ERROR_START, WARNING_START
from nmt.io.system import last_output_line
from nmt.store.training_store import TrainingStore
from pipeline import kenlm
from pipeline.config.runs import collect_runs
from pipeline.monitor.forecast import describe_hours, estimate_disk_bytes, estimate_training_hours
from pipeline.monitor.jobs import CHECK_FILE_VARIABLE, JobList
from pipeline.monitor.partition_check import find_unsatisfiable_jobs
from pipeline.monitor.run_state import RunStates
from pipeline.moses import programs as moses_programs

TIMEOUT_SECONDS = 900
"""Time limit of Snakemake's check. It takes seconds, but a file system may hang."""
LAST_TEXT_RULES = {"binarize", "moses_phrase_ids"}
"""The rules that write the ids of sentences or phrases, after which the text of a training is prepared."""


# --- problems ---------------------------------------------------------------------------------------------------------


def find_problems(
    job_list: JobList, submits_jobs: bool = False, status_command: str | None = None
) -> list[str]:
    """Return a line for everything that the pending jobs need and do not have.

    Args:
        job_list: the jobs of the run.
        submits_jobs: whether jobs are submitted to a cluster.
        status_command: the program that tells the states of submitted jobs, if the executor has one.
    """
    # 1. processors. Only where Slurm is installed, there is a program `scontrol`. For `sbatch` and others, the project
    # has wrappers, which exist without Slurm as well.
    problems: list[str | None] = []
    if not submits_jobs:
        problems.append(_find_missing_gpu(job_list))
    elif job_list.pending_jobs and status_command and not shutil.which("scontrol"):
        problems.append("no Slurm on this machine: run where sbatch is installed, or without --profile slurm")

    # 2. programs, which are always built on this machine
    rules = {job.rule for job in job_list.pending_jobs}
    if "kenlm_programs" in rules:
        problems.append(kenlm.explain_missing_programs())
    if "moses_programs" in rules:
        problems.append(moses_programs.explain_missing_moses())

    # 3. partitions
    if submits_jobs:
        problems += find_unsatisfiable_jobs(job_list.pending_jobs)
    return [problem for problem in problems if problem]


def _find_missing_gpu(job_list: JobList) -> str | None:
    """Return a line if the settings ask for a GPU and this machine has none."""
    config = job_list.config
    all_runs = collect_runs(config)

    # 1. devices on which models are trained
    devices = set()
    for run in find_untrained_runs(job_list, read_states(job_list)):
        devices.add(config.models[all_runs[run].model].training.device)

    # 2. devices on which models translate, if a job asks for a GPU
    other_jobs = [job for job in job_list.pending_jobs if job.stage != "train"]
    if any(job.resources.get("gpu") for job in other_jobs):
        devices.add(config.decoding.device)

    if "cuda" not in devices or gpu_pool.has_gpu_evidence():
        return None
    return (
        "training.device or decoding.device is `cuda`, but this machine shows no NVIDIA GPU: run on a cluster"
        " (--profile slurm), choose a smaller experiment, or set `device: auto`"
    )


def find_untrained_runs(job_list: JobList, states: RunStates) -> list[str]:
    """Return the runs with a pending job of training, without the runs whose finished model is in a store."""
    return [run for run in job_list.runs_to_train if states[run].finished_model is None]


def read_states(job_list: JobList) -> RunStates:
    """Return the states of the trainings. Until the text is prepared, nobody knows which stored models belong to it."""
    pending_rules = {job.rule for job in job_list.pending_jobs}
    return RunStates(job_list.config, Path(), is_text_prepared=not pending_rules & LAST_TEXT_RULES)


# --- forecast ---------------------------------------------------------------------------------------------------------


def describe_forecast(job_list: JobList) -> list[str]:
    """Return lines on the hours of training, on runs whose earlier training cannot be used, and on the disk space."""
    states = read_states(job_list)
    runs = find_untrained_runs(job_list, states)
    lines = []

    # 1. hours
    if runs:
        count = f"{len(runs)} {'models' if len(runs) > 1 else 'model'}"
        hours = estimate_training_hours(states, runs)
        lines.append(f"training: {count}, {describe_hours(states, hours)}")
    for run in runs:
        lines += _explain_new_training(states, run)

    # 2. disk space
    archives, corpora = job_list.archives_to_download, job_list.corpora_to_extract
    needed_bytes = estimate_disk_bytes(job_list.config, archives, corpora, runs)
    free_bytes = shutil.disk_usage(".").free
    if needed_bytes:
        line_start = WARNING_START if needed_bytes > free_bytes else ""
        sizes = f"needs {_format_bytes(needed_bytes)}, {_format_bytes(free_bytes)} are free"
        lines.append(f"{line_start}disk: {sizes}")
    return lines


def _explain_new_training(states: RunStates, run: str) -> list[str]:
    """Return a list with a line if a run was trained before, but with different settings or different prepared text."""
    state = states[run]
    if state.model is None or state.folder:  # nobody knows yet, or the training will continue
        return []
    change = TrainingStore(states.experiment.store).describe_changes(run, state.model.training_inputs)
    return [f"{run}: a new training, because {change}"] if change else []


def _format_bytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{max(1, round(size / 1e6))} MB"


# --- as a command -----------------------------------------------------------------------------------------------------


def run_preflight(folder: Path, options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Let Snakemake list the jobs of an experiment and check them, without running one.

    Returns the lines of Snakemake's forecast of time and disk, and the problems that the check has found.

    Args:
        folder: the folder of the experiment.
        options: options of Snakemake, as for a run.
    """
    with TemporaryDirectory() as temporary_folder:
        answer_file = Path(temporary_folder, "answer.json")
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
        # With exactly these words after `--quiet`, a dry-run ends when it has planned the jobs. Otherwise it would go
        # through the jobs, and none of them would be pending at its end.
        command += ["--directory", str(folder), "--dry-run", "--quiet", "rules", "progress"]
        command += ["--rerun-incomplete", *options, "--", "all"]
        result = subprocess.run(
            command,
            env={**os.environ, **child_environment(folder), CHECK_FILE_VARIABLE: str(answer_file)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # a dry-run writes its own errors to standard output
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        if result.returncode == 0:
            answer = read_json(answer_file)
            return answer["forecast"], answer["problems"]

    # The rules print their problems as errors; any other fault is in the last line.
    error_lines = [line for line in result.stdout.splitlines() if line.startswith(ERROR_START)]
    problems = [line.removeprefix(ERROR_START) for line in error_lines]
    return [], problems or [f"{folder}: Snakemake says: {last_output_line(result.stdout)}"]
