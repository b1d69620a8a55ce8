"""Progress of one job of the workflow as a small JSON file beside the job's log, for whoever asks how far it is."""

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
"""Names the environment variable with the log of the workflow's job at hand; its progress as JSON lies beside it."""


@dataclass(frozen=True)
class JobProgress:
    """Progress as it was written: so many units done, of so many if anybody knew, in so many seconds.

    before: units among them that an earlier attempt had done; error: what the work ended with, if it failed.
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
        """Until all units are done; None where nobody knows."""
        return (self.total - self.count) / self.rate if self.total and self.rate else None


def beside(log: Path) -> Path:
    """Where the progress of the job that writes a log lies."""
    return log.with_suffix(".progress.json")


def read(path: Path) -> JobProgress | None:
    """Progress that `Progress` or `failed` wrote; None where there is none that can be read."""
    try:
        return JobProgress(**read_json(path))
    except (OSError, UserError, TypeError):
        return None


def begin() -> None:
    """Forget the progress of an earlier attempt at the job at hand."""
    if path := _file():
        path.unlink(missing_ok=True)


def failed(message: str) -> None:
    """Note the error that the job at hand ends with."""
    if path := _file():
        write(replace(read(path) or JobProgress(), error=message))


def write(reading: JobProgress) -> None:
    """Note progress of the job at hand, whole or not at all; a full disk is left for the work itself to find."""
    if path := _file():
        part = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):
            part.write_text(json.dumps(asdict(reading)), encoding="utf-8")
            part.replace(path)


def _file() -> Path | None:
    """Where the job at hand notes its progress; None outside of the workflow."""
    words = shlex.split(os.environ.get(LOG, ""))
    log = Path(words[0]) if len(words) == 1 else None
    return beside(log) if log and log.suffix == ".log" and log.parent.is_dir() else None
