"""What Slurm says of its partitions, its configuration and the job at hand; nothing where it does not answer."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass

PATIENCE = 15
"""Seconds in which a scheduler that is asked has to answer."""

UNLIMITED = ("infinite", "UNLIMITED")


@dataclass(frozen=True)
class Nodes:
    """Nodes of a partition that are alike. seconds: the partition's time limit; megabytes: memory of each node.

    resources: the generic ones of each, such as `gpu:h200:8`.
    """

    seconds: float
    megabytes: float
    resources: str

    @property
    def gpus(self) -> bool:
        """Whether they have any."""
        return re.search(r"\bgpu\b", self.resources) is not None

    @property
    def gpu_models(self) -> set[str]:
        """Their types of GPU, as far as Slurm tells them apart."""
        return set(re.findall(r"\bgpu:([^:,()]+):[0-9]", self.resources))


@dataclass(frozen=True)
class Partitions:
    """A cluster's partitions with their nodes. default: where a job goes that names none; None if there is none."""

    nodes: dict[str, list[Nodes]]
    default: str | None = None


def partitions() -> Partitions:
    """The partitions of the cluster at hand."""
    nodes: dict[str, list[Nodes]] = {}
    default = None
    for line in _ask("sinfo", "--noheader", "--exact", "--format=%P %l %m %G").splitlines():
        if not line.strip():
            continue
        marked, limit, memory, resources = (line.split(maxsplit=3) + [""] * 3)[:4]
        name = marked.rstrip("*")
        default = name if marked.endswith("*") else default
        megabytes = re.match(r"[0-9]+", memory)
        known = Nodes(seconds(limit) or math.inf, float(megabytes[0]) if megabytes else math.inf, resources)
        nodes.setdefault(name, []).append(known)
    return Partitions(nodes, default)


def configuration() -> dict[str, str]:
    """The cluster's configuration by slurm.conf's names; the values as Slurm writes them, such as `300 sec`."""
    lines = (line.partition("=") for line in _ask("scontrol", "show", "config").splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}


def seconds_left() -> float | None:
    """Seconds until Slurm ends the job that this process is part of; None where that is not known."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return None
    end = os.environ.get("SLURM_JOB_END_TIME", "")  # newer versions tell the job itself
    if end.isdigit():
        return int(end) - time.time()
    return seconds(_ask("squeue", "--noheader", f"--jobs={job}", "--format=%L").strip())


def seconds_to_work(stated_minutes: float) -> float:
    """Seconds after which a process must begin to stop, so that it ends in good order within its job's time.

    Five minutes before the end, a fifth before it where less than 25 minutes are left; infinite outside of jobs.

    Args:
        stated_minutes: the job's time limit, for want of an answer from Slurm, which goes before: the limit that a job
            was sent with is not that which its rate of work would ask for later.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return math.inf
    told = seconds_left()
    left = 60 * stated_minutes if told is None else told
    return left - min(300, left / 5)


def seconds(duration: str) -> float | None:
    """A duration as Slurm writes it ([days-]hours:minutes:seconds or less of it); None if it is none."""
    if duration in UNLIMITED:
        return math.inf
    parts = re.fullmatch(r"(?:([0-9]+)-)?(?:(?:([0-9]+):)?([0-9]+):)?([0-9]+)", duration)
    if parts is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in parts.groups())
    return 86400.0 * days + 3600 * hours + 60 * minutes + rest


def _ask(program: str, *options: str) -> str:
    """What a program of Slurm's prints; nothing where it is not installed, fails or does not answer in time."""
    if not shutil.which(program):
        return ""
    try:
        answer = subprocess.run(
            [program, *options], capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return ""
    return answer.stdout if answer.returncode == 0 else ""
