"""Progress of long work: a bar on a terminal, occasional lines in a log, and a JSON file for `nmt status`."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TextIO

from tqdm import tqdm

from nmt.io import job_progress

LOG_SECONDS = 30.0


class Progress:
    """Shows count, percentage, rate and remaining time on standard error.

    `total` may be None if it is not known. `unit` names the counted things ("lines"), `label` the work. `before`: units
    that an earlier attempt has finished. They are counted, but rate and remaining time are those of this attempt.
    """

    def __init__(
        self,
        total: int | None,
        unit: str,
        label: str,
        *,
        before: int = 0,
        stream: TextIO | None = None,
        every: float = LOG_SECONDS,
    ) -> None:
        self.total = total
        self.unit = unit
        self.label = label
        self.before = self.count = before
        self._stream = stream or sys.stderr or io.StringIO()  # standard error is None if it is closed
        self._every = every
        self._begin = self._last = time.monotonic()
        self._bar = self._make_bar() if self._stream.isatty() else None
        self._note()

    @classmethod
    def over_files(cls, paths: Iterable[str | Path], label: str) -> Progress:
        """Make a progress over the bytes of files, as `nmt.io.text_files.read_lines` reports them."""
        sizes = (Path(path).stat().st_size for path in paths if Path(path).exists())
        return cls(sum(sizes), "bytes", label)

    def _make_bar(self) -> tqdm:
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
        elif time.monotonic() - self._last >= self._every:
            self._print()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        if kind is None:
            self._print()

    def _print(self) -> None:
        self._last = time.monotonic()
        print(self._line(self._last - self._begin), file=self._stream, flush=True)
        self._note()

    def _note(self) -> None:
        seconds = time.monotonic() - self._begin
        reading = job_progress.JobProgress(self.count, self.total, self.unit, seconds, self.before)
        job_progress.write(reading)

    def _line(self, seconds: float) -> str:
        rate = (self.count - self.before) / max(seconds, 1e-9)
        of_total = f" of {self.total:,} ({self.count / self.total:.0%})" if self.total else ""
        before = f" {self.before:,} before," if self.before else ""
        line = f"{self.label}: {self.count:,}{of_total} {self.unit},{before} {rate:,.0f}/s, {clock(seconds)}"
        if self.total and self.before < self.count < self.total:
            line += f", {clock((self.total - self.count) / rate)} left"
        return line


def clock(seconds: float) -> str:
    """Format seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
