"""What Snakemake needs for Slurm in addition to its executor (docs/cluster.md)."""

from __future__ import annotations

import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config

PROGRAMS = Path(__file__).resolve().parents[1] / "slurm" / "bin"

MOST_URGENT = 3


def urgency(config: Config, run: Run) -> int:
    """Return how early a run must start: 3 if another run continues it, 2 if it continues one, else 1."""
    bases = [other.base for other in collect_runs(config, config.use.models).values()]
    return MOST_URGENT if run.name in bases else 2 if run.base else 1


def use_own_programs() -> None:
    """Let the executor find this project's sbatch, squeue and the like, which stand before Slurm's and call them."""
    os.environ["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    os.environ["NMT_SENDER"] = _listen()
    os.environ["NMT_BEGUN"] = datetime.now(UTC).isoformat()
    # sbatch hands the environment on: a pool of this machine's GPUs would take the place of what Slurm grants
    os.environ.pop("NMT_GPUS", None)


def _listen() -> str:
    """Return a path to which programs write lines that this process shows. It exists as long as the process lives."""
    reader, writer = os.pipe()
    threading.Thread(target=_show, args=(reader,), daemon=True).start()
    return f"/proc/{os.getpid()}/fd/{writer}"


def _show(reader: int) -> None:
    with os.fdopen(reader, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            sys.stderr.write(line)
