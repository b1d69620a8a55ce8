"""Memory and processor time of this process and of others, from /proc."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

PROCESSES = Path("/proc")
STATUS = PROCESSES / "self" / "status"


def peak() -> int:
    """Return the most bytes that were in memory since this program began.

    On Linux this is VmHWM, since `getrusage` also counts the memory of the parent before this program began.
    """
    found = status("VmHWM")
    if found is not None:
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def processor_seconds(process: int) -> float:
    """Return the processor seconds that a process has used until now."""
    user, system = _statistics(process)[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def state(process: int) -> str:
    """Return the state of a process as one letter: T or t if it is stopped."""
    return _statistics(process)[0]


def _statistics(process: int) -> list[str]:
    return (PROCESSES / str(process) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def status(field: str, process: int | str = "self") -> int | None:
    """Return a field of a process' status in bytes; None if there is no such process or field."""
    if not (path := PROCESSES / str(process) / "status").exists():
        return None
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return None
