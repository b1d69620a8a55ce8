"""Progress of one job of the workflow as a small JSON file beside the job's log, which `nmt status` reads."""

from __future__ import annotations

import json
import os
import shlex
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import read_json

LOG = "NMT_LOG"
"""The environment variable with the log of the current job of the workflow. The progress file is beside the log."""


@dataclass(frozen=True)
class JobProgress:
    """Progress as it was written: finished units, their total if it is known, and seconds.

    before: units that an earlier attempt has finished; they are included. error: the error of the work, if it failed.
    """

    count: int = 0
    total: int | None = None
    unit: str = ""
    seconds: float = 0.0
    before: int = 0
    error: str | None = None

    @property
    def rate(self) -> float:
        """Units per second."""
        return (self.count - self.before) / max(self.seconds, 1)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all units are done; None if this is not known."""
        return (self.total - self.count) / self.rate if self.total and self.rate else None


def beside(log: Path) -> Path:
    """Return the path of the progress file of the job with this log."""
    return log.with_suffix(".progress.json")


def read(path: Path) -> JobProgress | None:
    """Read the progress that `Progress` or `failed` wrote; None if there is no readable file."""
    try:
        return JobProgress(**read_json(path))
    except (OSError, UserError, TypeError):
        return None


def begin() -> None:
    """Delete the progress of an earlier attempt at the current job."""
    if path := _file():
        path.unlink(missing_ok=True)


def failed(message: str) -> None:
    """Record the error with which the current job ends."""
    if path := _file():
        write(replace(read(path) or JobProgress(), error=message))


def write(reading: JobProgress) -> None:
    """Record the progress of the current job, whole or not at all. A full disk is not an error here."""
    if path := _file():
        part = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):
            part.write_text(json.dumps(asdict(reading)), encoding="utf-8")
            part.replace(path)


def _file() -> Path | None:
    """Return the progress file of the current job; None outside of the workflow."""
    words = shlex.split(os.environ.get(LOG, ""))
    log = Path(words[0]) if len(words) == 1 else None
    return beside(log) if log and log.suffix == ".log" and log.parent.is_dir() else None
