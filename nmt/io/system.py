"""What surrounds a computation: its code, packages and machine (for records, without names of users and hosts), Slurm's
time limit, and what programs say."""

from __future__ import annotations

import math
import os
import platform
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nmt

PACKAGES = (
    "matplotlib",
    "numpy",
    "pandas",
    "sacrebleu",
    "sacremoses",
    "safetensors",
    "sentencepiece",
    "snakemake",
    "tabulate",
    "torch",
)
"""Packages that results may depend on."""

REPOSITORY = Path(nmt.__file__).resolve().parents[1]
"""The checkout, if the package is in one."""


def describe_environment() -> dict[str, Any]:
    """Return code, packages and machine of this process."""
    return {
        "code": describe_code(),
        "packages": package_versions(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": cpu_model(),
    }


def describe_code() -> dict[str, Any]:
    """Return the version of the package; in a git checkout also the commit, and whether tracked files were changed."""
    commit = _git(REPOSITORY, "rev-parse", "HEAD") if (REPOSITORY / ".git").exists() else None
    changes = _git(REPOSITORY, "status", "--porcelain", "--untracked-files=no") if commit else None
    return {"version": nmt.__version__, "commit": commit, "dirty": None if changes is None else bool(changes)}


def format_version(code: Mapping[str, Any]) -> str:
    """Return the result of `code` as one word: version, commit, and whether files differed from it."""
    commit = code.get("commit")
    return (
        f"{code['version']}" + (f"+{commit[:12]}" if commit else "") + (".dirty" if code.get("dirty") else "")
    )


def _git(repository: Path, *arguments: str) -> str | None:
    """Return git's output; None if there is no git, or it fails."""
    # without locks: a record must not get in the way of somebody's commit; a shared clone may be somebody else's
    trusted = ["-c", f"safe.directory={repository}"]
    output = query_program("git", "--no-optional-locks", *trusted, "-C", str(repository), *arguments)
    return None if output is None else output.strip()


def package_versions() -> dict[str, str]:
    """Return the versions of the installed packages."""
    installed = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


def count_cpus() -> int:
    """Return how many CPUs this process may use, or how many there are if the system does not tell (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model() -> str:
    """Return the model of the CPU if Linux tells it, otherwise its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


ANSWER_SECONDS = 15
"""Time limit in seconds for every program that is only asked something: the scheduler, a driver, git, fonts."""


def slurm_seconds_left() -> float | None:
    """Return the seconds until Slurm ends the job of this process; None if this is not known."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return None
    end = os.environ.get("SLURM_JOB_END_TIME", "")  # newer versions tell the job itself
    if re.fullmatch("[0-9]{1,12}", end):
        return int(end) - time.time()
    answer = query_program("squeue", "--noheader", f"--jobs={job}", "--format=%L") or ""
    return parse_slurm_duration(answer.strip())


def seconds_until_stop(stated_minutes: float) -> float:
    """Return the seconds after which a process must begin to stop, so that it ends cleanly within its job's time limit.

    This is five minutes before the end, or a fifth of the remaining time if that is less than 25 minutes. It is
    infinite outside of jobs.

    Args:
        stated_minutes: the job's time limit at its submission, used if Slurm does not answer. Slurm's answer has
            priority, since the limit may have changed.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return math.inf
    left = slurm_seconds_left()
    left = 60 * stated_minutes if left is None else left
    return left - min(300, left / 5)


def parse_slurm_duration(duration: str) -> float | None:
    """Parse a duration in Slurm's format ([days-]hours:minutes:seconds or a part of it); None if it is malformed."""
    if duration in ("infinite", "UNLIMITED"):
        return math.inf
    parts = re.fullmatch(r"(?:([0-9]{1,9})-)?(?:(?:([0-9]{1,9}):)?([0-9]{1,9}):)?([0-9]{1,9})", duration)
    if parts is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in parts.groups())
    return 86400.0 * days + 3600 * hours + 60 * minutes + rest


def query_program(program: str, *options: str) -> str | None:
    """Return the output of `sinfo`, `git` and the like; None if one is missing, fails or does not answer in time."""
    try:
        answer = subprocess.run(
            [program, *options],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None


_SHOWN = 300
"""Maximum number of characters of a program's output in an error message."""


def last_output_line(output: str) -> str:
    """Return the last line of a program's output that is not empty, shortened."""
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    return (lines or ["no output"])[-1][-_SHOWN:]
