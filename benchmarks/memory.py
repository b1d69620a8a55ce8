"""Peak memory and state of a process, from /proc."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path


def peak(process: int | None = None) -> int | None:
    """Return the most bytes that a process, or this one, has had in memory; None if there is no such process.

    On Linux this is VmHWM, since `getrusage` also counts the memory of the parent before this program began.
    """
    status = Path("/proc", str(process or os.getpid()), "status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), None)
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if process is None else None


def state(process: int) -> str:
    """Return the state of a process as one letter: T or t if it is stopped."""
    return Path("/proc", str(process), "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
