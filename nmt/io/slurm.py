"""Information from Slurm on its partitions, its configuration and the current job. It is empty without an answer."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass

PATIENCE = 15
"""Time limit for an answer of the scheduler, in seconds."""

UNLIMITED = ("infinite", "UNLIMITED")


@dataclass(frozen=True)
class Nodes:
    """Equal nodes of a partition. seconds: the partition's time limit; gpus: whether the nodes have any."""

    seconds: float
    gpus: bool


@dataclass(frozen=True)
class Partitions:
    """A cluster's partitions with their nodes. default: the partition of jobs that name none; None if there is none."""

    nodes: dict[str, list[Nodes]]
    default: str | None = None


def partitions() -> Partitions:
    """Return the partitions of this cluster."""
    nodes: dict[str, list[Nodes]] = {}
    default = None
    for line in _ask("sinfo", "--noheader", "--exact", "--format=%P %l %G").splitlines():
        if not line.strip():
            continue
        marked, limit, resources = (line.split(maxsplit=2) + [""] * 2)[:3]
        name = marked.rstrip("*")
        default = name if marked.endswith("*") else default
        equal = Nodes(seconds(limit) or math.inf, re.search(r"\bgpu\b", resources) is not None)
        nodes.setdefault(name, []).append(equal)
    return Partitions(nodes, default)


def configuration() -> dict[str, str]:
    """Return the cluster's configuration by the names in slurm.conf, with values in Slurm's format (`300 sec`)."""
    lines = (line.partition("=") for line in _ask("scontrol", "show", "config").splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}


def seconds_left() -> float | None:
    """Return the seconds until Slurm ends the job of this process; None if this is not known."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return None
    end = os.environ.get("SLURM_JOB_END_TIME", "")  # newer versions tell the job itself
    if re.fullmatch("[0-9]{1,12}", end):
        return int(end) - time.time()
    return seconds(_ask("squeue", "--noheader", f"--jobs={job}", "--format=%L").strip())


def seconds_to_work(stated_minutes: float) -> float:
    """Return the seconds after which a process must begin to stop, so that it ends cleanly within its job's time limit.

    This is five minutes before the end, or a fifth of the remaining time if that is less than 25 minutes. It is
    infinite outside of jobs.

    Args:
        stated_minutes: the job's time limit at its submission, used if Slurm does not answer. Slurm's answer has
            priority, since the limit may have changed.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return math.inf
    told = seconds_left()
    left = 60 * stated_minutes if told is None else told
    return left - min(300, left / 5)


def seconds(duration: str) -> float | None:
    """Parse a duration in Slurm's format ([days-]hours:minutes:seconds or a part of it); None if it is malformed."""
    if duration in UNLIMITED:
        return math.inf
    parts = re.fullmatch(r"(?:([0-9]{1,9})-)?(?:(?:([0-9]{1,9}):)?([0-9]{1,9}):)?([0-9]{1,9})", duration)
    if parts is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in parts.groups())
    return 86400.0 * days + 3600 * hours + 60 * minutes + rest


def _ask(program: str, *options: str) -> str:
    """Return the output of a program of Slurm, empty if it is not installed, fails or does not answer in time."""
    if not shutil.which(program):
        return ""
    try:
        answer = subprocess.run(
            [program, *options], capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return ""
    return answer.stdout if answer.returncode == 0 else ""
