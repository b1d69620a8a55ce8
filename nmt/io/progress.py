"""Progress of long work: a bar on a terminal, occasional lines in a log, and a JSON file for `nmt status`."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import read_json

LOG_SECONDS = 30.0
"""Seconds between two lines in a log."""
LOG_VARIABLE = "NMT_LOG"
"""The environment variable with the log of the workflow's current job. The progress file is in the same folder."""


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job, as its file has it.

    Attributes:
        count: finished units, with those of earlier attempts.
        total: all units, if their number is known.
        unit: the name of the units, such as "lines".
        seconds: the time of this attempt.
        initial_count: units that earlier attempts finished.
        error: the error of the job, if it failed.
    """

    count: int = 0
    total: int | None = None
    unit: str = ""
    seconds: float = 0.0
    initial_count: int = 0
    error: str | None = None

    @property
    def rate(self) -> float:
        """Units per second of this attempt."""
        return (self.count - self.initial_count) / max(self.seconds, 1e-3)


def progress_path(log: Path) -> Path:
    """Return the path of the progress file of the job with this log."""
    return log.with_suffix(".progress.json")


def read_progress(path: Path) -> JobProgress | None:
    """Return the progress in a file, or None if there is no readable file."""
    try:
        return JobProgress(**read_json(path))
    except (OSError, UserError, TypeError):
        return None


def clear_progress() -> None:
    """Delete the progress of the current job: that of an earlier attempt, or of a finished step."""
    path = _current_progress_path()
    if path:
        path.unlink(missing_ok=True)


def record_failure(message: str) -> None:
    """Record the error with which the current job ends."""
    path = _current_progress_path()
    if path:
        progress = read_progress(path) or JobProgress()
        write_progress(replace(progress, error=message))


def write_progress(progress: JobProgress) -> None:
    """Write the progress of the current job, atomically. A full disk is not an error here."""
    path = _current_progress_path()
    if path:
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):
            temporary.write_text(json.dumps(asdict(progress)), encoding="utf-8")
            temporary.replace(path)


def _current_progress_path() -> Path | None:
    """Return the path of the current job's progress file, or None outside of the workflow."""
    # the name may be in quotes, as in a shell
    log_names = shlex.split(os.environ.get(LOG_VARIABLE, ""))
    if len(log_names) != 1:
        return None
    log = Path(log_names[0])
    return progress_path(log) if log.suffix == ".log" and log.parent.is_dir() else None


class Progress:
    """Shows count, percentage, rate and remaining time on standard error.

    Args:
        total: the number of all units, or None if it is not known.
        unit: the name of the units, such as "lines".
        label: the name of the work.
        initial_count: units that an earlier attempt has finished. They are counted, but rate and remaining time are
            those of this attempt.
    """

    def __init__(self, total: int | None, unit: str, label: str, *, initial_count: int = 0) -> None:
        """Start, and write the progress file of the current job if there is one."""
        from tqdm import tqdm  # slow to import

        self.count = self.initial_count = initial_count
        self.total, self.unit, self.label = total, unit, label
        self._stream = sys.stderr or io.StringIO()  # standard error is None if it is closed
        self._start_time = self._report_time = time.monotonic()

        # a bar on a terminal; elsewhere lines such as "clean:  50% 500/1000 [00:05<00:05, 100.00 lines/s]"
        self._tqdm_options: dict[str, Any] = {
            "total": total,
            "initial": initial_count,
            "unit": f" {unit}",
            "unit_scale": unit == "bytes",  # 12.3M bytes, but 12300 lines
        }
        self._format_line = tqdm.format_meter
        self._bar = None
        if self._stream.isatty():
            self._bar = tqdm(desc=label, file=self._stream, leave=False, **self._tqdm_options)
        self._write()

    @classmethod
    def over_files(cls, paths: Iterable[str | Path], label: str) -> Progress:
        """Return a progress over the bytes of files, as `nmt.io.text_files.read_lines` reports them."""
        sizes = (Path(path).stat().st_size for path in paths if Path(path).exists())
        return cls(sum(sizes), "bytes", label)

    def __enter__(self) -> Progress:
        return self

    def update(self, n: int = 1) -> None:
        """Count `n` more finished units."""
        self.count += n
        if self._bar is not None:
            self._bar.update(n)
        elif time.monotonic() - self._report_time >= LOG_SECONDS:
            self._report()

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if error_type is None:
            self._report()

    def _report(self) -> None:
        """Print the progress, and write it into its file."""
        self._report_time = time.monotonic()
        seconds = self._report_time - self._start_time
        line = self._format_line(
            self.count, elapsed=seconds, prefix=self.label, ncols=0, **self._tqdm_options
        )
        line = line.replace("s/ ", "s/")  # seconds per unit of slow work: "1.02s/updates"
        print(line, file=self._stream, flush=True)
        self._write()

    def _write(self) -> None:
        """Write the progress at this moment into the file of the job."""
        seconds = time.monotonic() - self._start_time
        write_progress(JobProgress(self.count, self.total, self.unit, seconds, self.initial_count))


def format_duration(seconds: float) -> str:
    """Format seconds as h:mm:ss."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
