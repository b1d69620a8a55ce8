"""Additions to Snakemake's executor for Slurm: priorities of trainings, and wrappers (docs/cluster.md)."""

import os
import sys
import threading
from pathlib import Path

from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config

PROGRAMS = Path(__file__).resolve().parents[1] / "slurm" / "bin"

HIGHEST_PRIORITY = 3


def get_priority(config: Config, run: Run) -> int:
    """Return the priority of a training: 3 if a selected run continues it, 2 if it continues a run, else 1."""
    selected_runs = collect_runs(config, config.use.models).values()
    if run.name in {selected_run.base for selected_run in selected_runs}:
        return HIGHEST_PRIORITY
    return 2 if run.base else 1


def put_wrappers_first() -> None:
    """Let the executor find this project's wrappers of sbatch, squeue and other programs of Slurm.

    The wrappers get the variable NMT_SENDER: a pipe to this process, which prints what they write to it.
    """
    os.environ["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    os.environ["NMT_SENDER"] = _open_message_pipe()
    os.environ["SQUEUE_ALL"] = "1"  # squeue also lists jobs in hidden partitions
    # sbatch passes the environment to jobs: a pool of this machine's GPUs would replace those that Slurm grants
    os.environ.pop("NMT_GPUS", None)


def _open_message_pipe() -> str:
    """Return the path of a pipe whose lines this process prints. It exists as long as the process lives."""
    reader, writer = os.pipe()
    threading.Thread(target=_print_lines, args=(reader,), daemon=True).start()
    return f"/proc/{os.getpid()}/fd/{writer}"


def _print_lines(reader: int) -> None:
    with os.fdopen(reader, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            sys.stderr.write(line)
