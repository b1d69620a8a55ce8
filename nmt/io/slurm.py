"""The time that Slurm leaves to a job. Without an answer there is none."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import time

PATIENCE = 15
"""Time limit for an answer of the scheduler, in seconds."""

UNLIMITED = ("infinite", "UNLIMITED")


def seconds_left() -> float | None:
    """Return the seconds until Slurm ends the job of this process; None if this is not known."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return None
    end = os.environ.get("SLURM_JOB_END_TIME", "")  # newer versions tell the job itself
    if re.fullmatch("[0-9]{1,12}", end):
        return int(end) - time.time()
    return seconds(ask("squeue", "--noheader", f"--jobs={job}", "--format=%L").strip())


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


def ask(program: str, *options: str) -> str:
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
