"""How much of the machine's memory this process holds and has held."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def resident() -> int | None:
    """Bytes in memory now (VmRSS); None where the system does not say."""
    return status("VmRSS")


def peak() -> int:
    """The most bytes that were in memory since this program began.

    On Linux VmHWM, since `getrusage` also counts what the parent held before this program began.
    """
    found = status("VmHWM")
    if found is not None:
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def status(field: str) -> int | None:
    """A field of /proc/self/status in bytes."""
    if not STATUS.exists():
        return None
    for line in STATUS.read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return None
