"""Snakemake's logger for the make targets: the progress of a run for a person, in 80 columns.

A stage has a line when its last job is done; a training when it starts and when it ends; a failure shows its reason.
On a terminal a last line shows the running jobs; elsewhere a line comes at least each minute. Snakemake's own lines
are in `.snakemake/log`, and the output of jobs in their logs.

Snakemake finds the package by its name, in the folder that `tools/run.py` puts on the path.
"""

import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import FrameType
from typing import Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from nmt.io import progress
from nmt.io.files import read_json
from nmt.io.messages import ERROR_START, set_color
from nmt.io.progress import format_duration
from pipeline.monitor import jobs
from pipeline.monitor.forecast import (
    estimate_parallel_hours,
    estimate_training_hours,
    format_hours,
)
from pipeline.monitor.run_state import RunStates

SILENCE_SECONDS = 60.0
"""Time without a line, outside of a terminal, after which a line says what runs."""
REFRESH_SECONDS = 3.0
"""Time between two looks at the jobs' progress."""
MAX_JOBS_IN_LINE = 4
HEADING = f"{'time':>8} {'left':>10}"
LAST_WORD_START = "nmt: "
"""Start of the last line of a training that stops before its time limit, or waits no longer for another."""
TAIL_LINES = 10
"""Lines of a failed job's log that are printed if it has no error of `nmt`."""
ERROR_STARTS = (ERROR_START, "srun: error: ", "slurmstepd: error: ")
"""Starts of lines that say why a job failed: of `nmt`, and of Slurm on the job's node."""
NO_MESSAGE = "It ended without a message; perhaps it was killed, or the memory or disk was full."
"""The reason that is printed if a failed job has written nothing into its log."""
DISPLAYED_MESSAGE = "Nothing to be done"
"""Start of the message of Snakemake that matters to a person, besides warnings and errors."""
SHELL_ERROR = "CalledProcessError in file"
"""Part of the message of a failed shell command, which repeats the command. The log of the job says what is wrong."""


@dataclass(frozen=True)
class StartedJob:
    """A job that was started or submitted.

    Attributes:
        time: the start in seconds of the run's clock.
        is_submitted: whether the job waits in the queue of a cluster before it runs.
        earlier_files: time of the last change of its log and of its progress file at the start; None if there is no
            such file. These files are of an earlier attempt until they change.
    """

    time: float
    is_submitted: bool
    earlier_files: Mapping[Path, float | None]


class RunProgress:
    """Prints the progress of a run. Jobs are identified by their logs.

    Args:
        stream: the file or terminal for the lines.
        clock: returns seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._start_folder = Path.cwd()  # in which the user called the run; printed paths are relative to it
        self._stream = stream
        self._clock = clock
        self._last_line_time = clock()
        self._jobs: dict[str, jobs.Job] = {}  # log -> job, for the jobs that are not done
        self._started_jobs: dict[str, StartedJob] = {}  # log -> job, for the jobs that wait in a queue or run
        self._job_seconds: list[float] = []  # the duration of each finished job, without trainings
        self._max_parallel_jobs = 1
        self._lock = threading.RLock()
        self._has_ended = threading.Event()
        self._watcher = threading.Thread(target=self._refresh_regularly, daemon=True)

    # --- events -------------------------------------------------------------------------------------------------

    def start_job(self, log: str, is_submitted: bool = False) -> None:
        """Record that a job has started or was submitted, and print a line if it is a training."""
        with self._lock:
            if self._watcher.ident is None:  # the first job of the run
                self._start_run()
            path = self._folder / log
            earlier_files = {file: _read_time(file) for file in (path, progress.progress_path(path))}
            self._started_jobs[log] = StartedJob(self._clock(), is_submitted, earlier_files)
            self._max_parallel_jobs = max(self._max_parallel_jobs, len(self._started_jobs))

            job = self._jobs.get(log)
            if job and job.stage == "train":
                state = RunStates(self._config, self._folder)[str(job.run)]
                text = f"{state.planned_updates:,} updates"
                if state.checkpoint_update:
                    text = f"at {state.checkpoint_update:,} of {text}"
                if state.finished_model:
                    text = "trained before: copies the model from the store"
                self._print_job_line(job, f"{'submitted' if is_submitted else 'begins'}, {text}")

    def finish_job(self, log: str) -> None:
        """Record that a job is done, and print a line if a model or a stage is done with it."""
        with self._lock:
            started_job, job = self._started_jobs.pop(log, None), self._jobs.pop(log, None)
            if job is None or started_job is None:
                return
            seconds = self._clock() - started_job.time

            # a model, its scores, or the last job of a stage
            if job.stage == "train":
                summary = read_json(self._folder / "models" / str(job.run) / "summary.json")
                text = f"done in {format_duration(seconds)}, dev NLL {summary['dev_nll']:.2f}"
                self._print_job_line(job, text)
                return
            self._job_seconds.append(seconds)
            if job.rule == "bleu":
                scores = read_json(self._folder / "scores" / f"{job.name}.json")
                text = f"BLEU {scores['bleu_all']:.2f}"
                if scores["bleu_no_unk"]:
                    text += f", No UNK {scores['bleu_no_unk']:.2f}"
                self._print_job_line(job, text)
            elif all(pending_job.stage != job.stage for pending_job in self._jobs.values()):
                self._print_timed_line(f"{job.stage} done")

    def report_failure(
        self,
        log: str,
        reason: str | None = None,
        next_attempt: str | None = None,
        slurm_logs: Iterable[str] = (),
    ) -> bool:
        """Print why a job failed: its errors, what Slurm did, or the last lines of its log.

        Return whether the reason is known: False if only the last lines of the log were printed.

        reason: why it failed, unless its log tells. next_attempt: such as "2 of 20", if there is one. slurm_logs: logs
        that are read if the job failed before it wrote its own, as on a node that lacks a folder.
        """
        with self._lock:
            started_job = self._started_jobs.pop(log, None)
            if started_job is None:  # the second report of the same failure
                return True
            lines: list[str] = []
            for path in (self._folder / log, *map(Path, slurm_logs)):
                if self._is_new(started_job, path):
                    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
                if lines:
                    break
            errors = [line for line in lines if line.startswith(ERROR_STARTS)]

            # 1. the reasons
            if reason:
                reasons = [*errors, reason]
            elif lines and lines[-1].startswith(LAST_WORD_START):
                reasons = lines[-1:]
            else:
                reasons = errors or lines[-TAIL_LINES:] or [NO_MESSAGE]

            # 2. the name of the job, its log, and what happens next
            job = self._jobs.get(log)
            name = f"{job.stage} {job.name}" if job else log
            heading = set_color("red", f"FAILED: {name}", self._stream)
            if lines:
                reasons.append(f"log: {os.path.relpath(path, self._start_folder)}")
            if next_attempt:
                heading = set_color("yellow", f"ended: {name}", self._stream)
                reasons.append(f"It is submitted again: attempt {next_attempt}")
            self.print_lines("", heading, *reasons, "")
            return bool(errors or reason)

    def close(self) -> None:
        """End the thread that watches the jobs."""
        self._has_ended.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._draw_last_line("")

    # --- lines --------------------------------------------------------------------------------------------------

    def print_lines(self, *lines: str) -> None:
        """Print lines as they are."""
        with self._lock:
            self._draw_last_line("")
            print(*lines, sep="\n", file=self._stream, flush=True)
            self._last_line_time = self._clock()

    def _print_timed_line(self, text: str) -> None:
        """Print a line with the time since the start and the time left."""
        elapsed = format_duration(self._clock() - self._start_time)
        time_left = format_hours(self._estimate_hours_left())
        self.print_lines(f"{elapsed:>8} {time_left:>10}  {text}")

    def _print_job_line(self, job: jobs.Job, text: str) -> None:
        self._print_timed_line(f"{job.stage} {job.name}: {text}")

    def _draw_last_line(self, text: str) -> None:
        """Replace the last line of a terminal."""
        if self._stream.isatty():
            width = shutil.get_terminal_size().columns
            print(f"\r\033[K{text[: width - 1]}", end="", file=self._stream, flush=True)

    def refresh_line(self) -> None:
        """Show the running jobs: on a terminal always, elsewhere after a minute without a line."""
        # 1. the progress of the first jobs, and the number of others
        running_texts, waiting_texts = [], []
        for log, started_job in self._started_jobs.items():
            job = self._jobs.get(log)
            if job is None:
                continue
            text = f"{job.stage} {job.name}"
            path = self._folder / log
            if started_job.is_submitted and not self._is_new(started_job, path):
                waiting_texts.append(text)
                continue
            progress_path = progress.progress_path(path)
            job_progress = progress.read_progress(progress_path)
            if job_progress and job_progress.total and self._is_new(started_job, progress_path):
                text += f" {job_progress.count / job_progress.total:.0%}"
            running_texts.append(text)
        texts = [_join_names(running_texts)] if running_texts else []
        if waiting_texts:
            texts.append(f"waiting in the queue: {_join_names(waiting_texts)}")
        text = "; ".join(texts)

        # 2. show them on a terminal, or after a while without a line
        if self._stream.isatty():
            time_left = format_hours(self._estimate_hours_left())
            self._draw_last_line(f"time left {time_left}: {text}" if text else "")
        elif text and self._clock() - self._last_line_time >= SILENCE_SECONDS:
            self._print_timed_line(text)

    # --- the run ------------------------------------------------------------------------------------------------

    def _start_run(self) -> None:
        """Read which jobs the run has, and start the thread that watches them."""
        self._start_time = self._clock()
        self._folder = Path.cwd()  # Snakemake has changed to the experiment's folder
        job_list = jobs.started_job_lists[-1]
        self._config = job_list.config
        self._jobs = {job.log: job for job in job_list.pending_jobs}
        self.print_lines(HEADING)
        self._watcher.start()

    def _refresh_regularly(self) -> None:
        while not self._has_ended.wait(REFRESH_SECONDS):
            with self._lock:
                self.refresh_line()

    def _is_new(self, started_job: StartedJob, path: Path) -> bool:
        """Return whether a file of a job was written since its start."""
        return _read_time(path) not in (None, started_job.earlier_files.get(path))

    def _estimate_hours_left(self) -> float | None:
        """Return the hours left, from the rate of trainings and the mean time of finished jobs of other kinds.

        None if the rate of a training is unknown.
        """
        runs = [str(job.run) for job in self._jobs.values() if job.stage == "train"]
        states = RunStates(self._config, self._folder)
        hours = estimate_training_hours(states, runs)
        if None in hours.values():
            return None
        total_hours = sum(run_hours or 0.0 for run_hours in hours.values())
        if self._job_seconds:
            other_jobs = len(self._jobs) - len(runs)
            total_hours += other_jobs * fmean(self._job_seconds) / 3600

        # the longest chain of trainings that continue each other, or all work divided among the parallel jobs
        parallel_hours = estimate_parallel_hours(states, hours)
        return max(parallel_hours, total_hours / self._max_parallel_jobs)


def _read_time(path: Path) -> float | None:
    """Return the time of a file's last change, or None without a file. Snakemake may remove the file meanwhile."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return None


def _join_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    parts = list(names[:MAX_JOBS_IN_LINE])
    other_count = len(names) - MAX_JOBS_IN_LINE
    if other_count > 0:
        parts.append(f"{other_count} more")
    return ", ".join(parts)


class LogHandler(LogHandlerBase):
    """Passes on the events of jobs, and prints warnings and errors, but no other lines of Snakemake."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Prepare for the events of a run, and take notice of Ctrl-C."""
        self.progress = RunProgress(sys.stderr)
        self.logs: dict[int, str] = {}  # Snakemake's number of a job -> its log
        self.has_explained_error = False
        self.is_interrupted = False
        if threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGINT, self._record_interrupt)

    def _record_interrupt(self, number: int, frame: FrameType | None) -> None:
        """Record Ctrl-C: all jobs then fail, and these failures are not printed."""
        self.is_interrupted = True
        if callable(self._previous_handler):
            self._previous_handler(number, frame)

    def emit(self, record: logging.LogRecord) -> None:
        """Handle a record of Snakemake's log. An exception is passed to `handleError`, as logging asks of handlers."""
        try:
            self._handle_event(record, getattr(record, "event", None))
        except Exception:
            self.handleError(record)

    def _handle_event(self, record: logging.LogRecord, event: LogEvent | None) -> None:
        """Pass an event of a job on to `RunProgress`, or print a message."""
        fields: dict[str, Any] = vars(record)  # in which JOB_FINISHED has job_id, and the other events jobid
        if event == LogEvent.RUN_INFO:
            # discard standard output (1): from here on only jobs write to it, and each has its log
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        elif event == LogEvent.JOB_INFO and fields["log"]:
            log = str(fields["log"][0])
            self.logs[fields["jobid"]] = log
            self.progress.start_job(log, is_submitted=not fields["local"])
        elif event == LogEvent.JOB_FINISHED and fields["job_id"] in self.logs:
            self.progress.finish_job(self.logs[fields["job_id"]])
        elif self.is_interrupted:
            return
        elif event == LogEvent.JOB_ERROR and fields["jobid"] in self.logs:
            self.has_explained_error |= self.progress.report_failure(
                self.logs[fields["jobid"]],
                fields.get("reason"),
                fields.get("next_attempt"),
                slurm_logs=fields["log"][1:],
            )
        elif event in (None, LogEvent.ERROR):
            self._print_message(record)

    def _print_message(self, record: logging.LogRecord) -> None:
        """Print a warning, an error that no job's log explains, or one of the few other messages that matter."""
        message = str(record.msg)
        is_unexplained = record.levelno >= logging.WARNING and not self.has_explained_error
        if message.startswith(DISPLAYED_MESSAGE) or (is_unexplained and SHELL_ERROR not in message):
            self.progress.print_lines(message)

    def close(self) -> None:
        """End the progress of the run."""
        self.progress.close()
        super().close()
