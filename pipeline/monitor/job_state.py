"""The state of a job, from its files, its progress and Snakemake's mark of jobs that have begun."""

from __future__ import annotations

import os
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from nmt.io import job_progress
from nmt.io.job_progress import JobProgress
from nmt.io.progress import LOG_SECONDS, clock
from pipeline.monitor.jobs import Job

State = Literal[
    "done", "outdated", "running", "silent", "stopped", "failed", "submitted", "waiting", "not needed"
]
"""outdated: finished with other settings. silent: begun, but without a sign of life for long. stopped: interrupted.
submitted: handed to a scheduler, without a sign of life yet. not needed: its files are gone, but all that is made from
them is there."""

FRESH = 3 * LOG_SECONDS
"""Seconds within which a job that reports its progress must have been heard of."""
SILENCE = 20 * LOG_SECONDS
"""Seconds after which a job that reports nothing is no longer called running."""
CLOCKS = 5.0
"""Seconds by which the clocks of a shared file system and its machines may differ."""


@dataclass(frozen=True)
class JobStatus:
    """The state of a job. share: the part that is done, 0 to 1. units_per_second: of `unit`. note: an explanation."""

    name: str
    state: State
    share: float | None = None
    units_per_second: float | None = None
    unit: str | None = None
    seconds_left: float | None = None
    note: str | None = None


class Folder:
    """An experiment's folder at one moment. Nothing in it is ever written or locked."""

    def __init__(self, path: Path, now: float | None = None) -> None:
        self.path = path
        self.now = time.time() if now is None else now

    @cached_property
    def begun(self) -> dict[str, float]:
        """Return files whose jobs Snakemake has begun and not ended, with the time when it did."""
        return dict(_marked(self.path / ".snakemake" / "incomplete"))

    @cached_property
    def attended(self) -> bool:
        """Return whether a Snakemake works here, or was killed before it could say that it no longer does."""
        return any((self.path / ".snakemake" / "locks").glob("*"))

    def has(self, job: Job) -> bool:
        """Return whether all files of a job are there: each appears whole or not at all."""
        return all((self.path / file).exists() for file in job.outputs)

    def age(self, path: Path) -> float | None:
        """Return seconds since a file was written to; None if it is not there."""
        try:
            return max(0.0, self.now - path.stat().st_mtime)
        except OSError:
            return None

    def reading(self, job: Job) -> JobProgress | None:
        """Return the last progress that a job noted."""
        return job_progress.read(job_progress.beside(self.path / job.log))

    def begun_ago(self, job: Job) -> float | None:
        """Return seconds since Snakemake began or submitted a job that has not ended; None if there is no such."""
        times = [self.begun[file] for file in job.outputs if file in self.begun]
        return max(0.0, self.now - max(times)) if times else None

    def silence(self, job: Job) -> float | None:
        """Return the seconds since a job last wrote to log, progress or an unfinished file; None if it never did."""
        log = self.path / job.log
        ages = [self.age(path) for path in (log, job_progress.beside(log), *self._parts(job))]
        return min((age for age in ages if age is not None), default=None)

    def _parts(self, job: Job) -> Iterator[Path]:
        for file in job.outputs:
            path = self.path / file
            if path.parent.is_dir():
                yield from path.parent.glob(f".{path.name}.*.part*")
                yield path.with_name(f"{path.name}.part")


def job_status(folder: Folder, job: Job) -> JobStatus:
    """Return how far a job is."""
    if folder.has(job):
        return JobStatus(job.name, "done", share=1.0)
    state, note = _unfinished(folder, job)
    reading = folder.reading(job) if state in ("running", "silent") else None
    if reading is None or not reading.unit:
        return JobStatus(job.name, state, note=note)
    share = reading.count / reading.total if reading.total else None
    return JobStatus(job.name, state, share, reading.rate, reading.unit, reading.seconds_left, note)


def _unfinished(folder: Folder, job: Job) -> tuple[State, str | None]:
    """Return state and note of a job that lacks a file."""
    begun, silence = folder.begun_ago(job), folder.silence(job)
    if begun is not None and (silence is None or silence > begun + CLOCKS):
        return (
            "submitted" if folder.attended else "waiting"
        ), None  # what there is stems from an earlier attempt
    reading = folder.reading(job)
    if reading and reading.error:
        return "failed", reading.error
    if begun is None or silence is None:
        return "waiting", None
    if silence < FRESH or (folder.attended and silence < SILENCE):
        return "running", None
    return ("silent" if folder.attended else "stopped"), f"not heard of for {clock(silence)}"


def _marked(incomplete: Path) -> Iterator[tuple[str, float]]:
    """Yield files that Snakemake has marked: their paths are the marks' names, in base 64, long ones cut at folders."""
    for top, _, names in os.walk(incomplete):
        for name in names:
            path = Path(top, name)
            parts = [part.removeprefix("@") for part in path.relative_to(incomplete).parts]
            try:
                yield urlsafe_b64decode("".join(parts)).decode(), path.stat().st_mtime
            except (ValueError, OSError):
                continue  # no mark of Snakemake's, or gone by now
