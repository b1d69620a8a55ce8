"""The code, packages and machine of a computation, for records beside results, without names of users and hosts."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
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


def origin() -> dict[str, Any]:
    """Return code, packages and machine of this process."""
    return {
        "code": code(),
        "packages": packages(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": processor(),
    }


def code(repository: Path = REPOSITORY) -> dict[str, Any]:
    """Return the version of the package; in a git checkout also the commit, and whether tracked files were changed."""
    commit = _git(repository, "rev-parse", "HEAD") if (repository / ".git").exists() else None
    changes = _git(repository, "status", "--porcelain", "--untracked-files=no") if commit else None
    return {
        "version": nmt.__version__,
        "commit": commit,
        "dirty": None if changes is None else bool(changes),
    }


def release_name(code: Mapping[str, Any]) -> str:
    """Return the result of `code` as one word: version, commit, and whether files differed from it."""
    commit = code.get("commit")
    return (
        f"{code['version']}" + (f"+{commit[:12]}" if commit else "") + (".dirty" if code.get("dirty") else "")
    )


def _git(repository: Path, *arguments: str) -> str | None:
    """Return git's output; None if there is no git, or it fails."""
    try:
        # without locks: a record must not get in the way of somebody's commit; a shared clone may be somebody else's
        trusted = ["-c", f"safe.directory={repository}"]
        command = ["git", "--no-optional-locks", *trusted, "-C", str(repository), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()


def packages() -> dict[str, str]:
    """Return the versions of the installed packages."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def processors() -> int:
    """Return how many CPUs this process may use, or how many there are if the system does not tell (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Return the model of the CPU if Linux tells it, otherwise its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
