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
from typing import TYPE_CHECKING

from nmt.errors import UserError
from nmt.io.files import read_json

if TYPE_CHECKING:
    from tqdm import tqdm

LOG_SECONDS = 30.0
LOG_VARIABLE = "NMT_LOG"
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
        return (self.count - self.before) / max(self.seconds, 1e-3)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all units are done; None if this is not known."""
        return (self.total - self.count) / self.rate if self.total and self.rate else None


def progress_path(log: Path) -> Path:
    """Return the path of the progress file of the job with this log."""
    return log.with_suffix(".progress.json")


def read_progress(path: Path) -> JobProgress | None:
    """Read the progress that `Progress` or `failed` wrote; None if there is no readable file."""
    try:
        return JobProgress(**read_json(path))
    except (OSError, UserError, TypeError):
        return None


def clear_progress() -> None:
    """Delete the progress of an earlier attempt at the current job."""
    if path := _file():
        path.unlink(missing_ok=True)


def record_failure(message: str) -> None:
    """Record the error with which the current job ends."""
    if path := _file():
        write_progress(replace(read_progress(path) or JobProgress(), error=message))


def write_progress(reading: JobProgress) -> None:
    """Record the progress of the current job, whole or not at all. A full disk is not an error here."""
    if path := _file():
        part = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):
            part.write_text(json.dumps(asdict(reading)), encoding="utf-8")
            part.replace(path)


def _file() -> Path | None:
    """Return the progress file of the current job; None outside of the workflow."""
    words = shlex.split(os.environ.get(LOG_VARIABLE, ""))
    log = Path(words[0]) if len(words) == 1 else None
    return progress_path(log) if log and log.suffix == ".log" and log.parent.is_dir() else None


class Progress:
    """Shows count, percentage, rate and remaining time on standard error.

    `total` may be None if it is not known. `unit` names the counted things ("lines"), `label` the work. `before`: units
    that an earlier attempt has finished. They are counted, but rate and remaining time are those of this attempt.
    """

    def __init__(self, total: int | None, unit: str, label: str, *, before: int = 0) -> None:
        self.total = total
        self.unit = unit
        self.label = label
        self.before = self.count = before
        self._stream = sys.stderr or io.StringIO()  # standard error is None if it is closed
        self._begin = self._last = time.monotonic()
        self._bar = self._make_bar() if self._stream.isatty() else None
        write_progress(self._now())

    @classmethod
    def over_files(cls, paths: Iterable[str | Path], label: str) -> Progress:
        """Make a progress over the bytes of files, as `nmt.io.text_files.read_lines` reports them."""
        sizes = (Path(path).stat().st_size for path in paths if Path(path).exists())
        return cls(sum(sizes), "bytes", label)

    def _make_bar(self) -> tqdm:
        from tqdm import tqdm

        return tqdm(
            total=self.total,
            initial=self.before,
            unit=f" {self.unit}",
            desc=self.label,
            file=self._stream,
            unit_scale=True,
            leave=False,
        )

    def __enter__(self) -> Progress:
        return self

    def update(self, n: int = 1) -> None:
        """Count `n` more finished units."""
        self.count += n
        if self._bar is not None:
            self._bar.update(n)
        elif time.monotonic() - self._last >= LOG_SECONDS:
            self._print()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if kind is None:
            self._print()

    def _now(self) -> JobProgress:
        return JobProgress(self.count, self.total, self.unit, time.monotonic() - self._begin, self.before)

    def _print(self) -> None:
        self._last = time.monotonic()
        print(self._line(self._now()), file=self._stream, flush=True)
        write_progress(self._now())

    def _line(self, now: JobProgress) -> str:
        of_total = f" of {now.total:,} ({now.count / now.total:.0%})" if now.total else ""
        before = f" {now.before:,} before," if now.before else ""
        duration = format_duration(now.seconds)
        line = f"{self.label}: {now.count:,}{of_total} {now.unit},{before} {now.rate:,.0f}/s, {duration}"
        if now.seconds_left:
            line += f", {format_duration(now.seconds_left)} left"
        return line


def format_duration(seconds: float) -> str:
    """Format seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
