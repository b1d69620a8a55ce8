"""The surroundings of a process: code version, packages and machine, Slurm's time limit, and the output of programs.

The names of users and hosts are left out, since the results are published.
"""

from __future__ import annotations

import math
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nmt
from nmt.environment import REPOSITORY

PACKAGES = "matplotlib numpy pandas sacrebleu sacremoses safetensors sentencepiece snakemake tabulate torch"
"""Packages that results may depend on."""
CPUINFO = Path("/proc/cpuinfo")

KERNEL_FLAGS = (
    "avx avx2 fma avx_vnni avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 avx512_fp16 amx_tile amx_bf16 "
    "amx_int8 asimd asimddp sve sve2 bf16 i8mm"
)
"""Flags of a CPU, as Linux names them, by which PyTorch, MKL and oneDNN choose kernels."""
KERNEL_VARIABLES = ("ATEN_CPU_CAPABILITY", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA")
"""Variables by which somebody can choose other kernels."""


def describe_environment() -> dict[str, Any]:
    """Return code, packages and machine of this process."""
    return {
        "code": describe_code(),
        "packages": package_versions(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": describe_processor(),
    }


def describe_processor() -> dict[str, Any]:
    """Return the model of the CPU, and what decides which kernels compute, and so the last digits of results.

    `torch_level`, the instructions that PyTorch has chosen, is left out if this process has not imported PyTorch.
    """
    description: dict[str, Any] = {
        "model": cpu_model(),
        "flags": sorted(read_cpu_words().intersection(KERNEL_FLAGS.split())),
        "variables": {name: os.environ[name] for name in KERNEL_VARIABLES if name in os.environ},
    }
    torch = sys.modules.get("torch")
    if torch:
        description["torch_level"] = torch.backends.cpu.get_cpu_capability()
    return description


def describe_code() -> dict[str, Any]:
    """Return the version of the package; in a git checkout also the commit, and whether tracked files were changed."""
    # a package that was installed without git has a version only
    commit = _run_git("rev-parse", "HEAD") if (REPOSITORY / ".git").exists() else None
    changes = _run_git("status", "--porcelain", "--untracked-files=no") if commit else None
    return {"version": nmt.__version__, "commit": commit, "dirty": None if changes is None else bool(changes)}


def format_version(code: Mapping[str, Any]) -> str:
    """Return the result of `describe_code` as one word, such as "1.0.0+3f786850e387.dirty"."""
    word = str(code["version"])
    if code.get("commit"):
        word += f"+{code['commit'][:12]}"
    return f"{word}.dirty" if code.get("dirty") else word


def _run_git(*arguments: str) -> str | None:
    """Return git's output on the repository, or None if there is no git, or it fails."""
    # Without locks, git does not get in the way of a commit. A shared clone may belong to another user, whom git would
    # distrust without `safe.directory`.
    options = ["--no-optional-locks", "-c", f"safe.directory={REPOSITORY}", "-C", str(REPOSITORY)]
    output = query_program("git", *options, *arguments)
    return None if output is None else output.strip()


def package_versions() -> dict[str, str]:
    """Return the versions of the installed packages."""
    versions = {}
    for name in PACKAGES.split():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def count_cpus() -> int:
    """Return the number of CPUs that this process may use, or of all CPUs if the system does not know it (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_cpu_words() -> set[str]:
    """Return the words of /proc/cpuinfo, among them the CPU's maker and flags; empty on systems without this file."""
    return set(CPUINFO.read_text(encoding="utf-8").split()) if CPUINFO.exists() else set()


def cpu_model() -> str:
    """Return the model of the CPU if Linux names it, otherwise its architecture."""
    with suppress(OSError):
        for line in CPUINFO.read_text(encoding="utf-8").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


ANSWER_SECONDS = 15
"""Time limit in seconds for each program that answers a question: the scheduler, a driver, git."""

_SLURM_DURATION = re.compile(
    "(?:(?P<days>[0-9]{1,9})-)?"
    "(?:(?:(?P<hours>[0-9]{1,9}):)?(?P<minutes>[0-9]{1,9}):)?"
    "(?P<seconds>[0-9]{1,9})"
)


def slurm_seconds_left() -> float | None:
    """Return the seconds until Slurm ends the job of this process, or None if this is not known."""
    job_id = os.environ.get("SLURM_JOB_ID")
    if job_id is None:
        return None
    end_time = os.environ.get("SLURM_JOB_END_TIME", "")  # only newer versions of Slurm set it
    if re.fullmatch("[0-9]{1,12}", end_time):
        return int(end_time) - time.time()
    answer = query_program("squeue", "--noheader", f"--jobs={job_id}", "--format=%L") or ""
    return parse_slurm_duration(answer.strip())


def seconds_until_stop(requested_minutes: float) -> float:
    """Return the seconds after which a process must begin to stop, so that it ends cleanly within its job's time limit.

    The process stops five minutes before the limit. If less than 25 minutes remain, it stops after four fifths of them.
    Outside of jobs, the result is infinite.

    Args:
        requested_minutes: the job's time limit at its submission, used if Slurm does not answer. Slurm's answer has
            priority, since the limit may have changed.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return math.inf
    seconds_left = slurm_seconds_left()
    if seconds_left is None:
        seconds_left = 60 * requested_minutes
    return seconds_left - min(300, seconds_left / 5)


def parse_slurm_duration(duration: str) -> float | None:
    """Return the seconds of a duration in Slurm's format, or None if it is malformed.

    The format is [days-]hours:minutes:seconds or a part of it, such as 1-02:00:00, 30:00 or 45.
    """
    if duration in ("infinite", "UNLIMITED"):
        return math.inf
    match = _SLURM_DURATION.fullmatch(duration)
    if match is None:
        return None
    # units that are left out count 0
    numbers = {unit: float(digits) for unit, digits in match.groupdict("0").items()}
    return 86400 * numbers["days"] + 3600 * numbers["hours"] + 60 * numbers["minutes"] + numbers["seconds"]


def query_program(program: str, *options: str) -> str | None:
    """Return the output of a program, or None if it is missing, fails or does not answer in time."""
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


_MAX_LINE_CHARACTERS = 500
"""Maximum number of characters of a program's output in an error message."""


def last_output_line(output: str) -> str:
    """Return the last line of a program's output, or the end of this line if it is long. Empty lines do not count."""
    lines = output.strip().split("\n")
    return lines[-1].strip()[-_MAX_LINE_CHARACTERS:] or "no output"
