"""Snakemake's logger for the make targets: the progress of a run for a person, in 80 columns.

A stage has a line when its last job is done; a training when it starts and when it ends; a failure shows what its log
says. On a terminal a last line shows the running jobs; elsewhere a line comes at least each minute. Snakemake's own
lines are in `.snakemake/log`, and the output of jobs in their logs.

Snakemake finds the package by its name, in the folder that `workflow/run.py` puts on the path.
"""

import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from types import FrameType
from typing import Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from nmt.io import progress
from nmt.io.files import read_json
from nmt.io.progress import JobProgress, format_duration
from pipeline.config.runs import collect_runs, format_run_label
from pipeline.monitor import jobs
from pipeline.monitor.forecast import estimate_parallel_hours, estimate_training_times, format_hours
from pipeline.monitor.status import read_training_status

SILENCE_SECONDS = 60.0
"""Time without a line, outside of a terminal, after which a line says what runs."""
REFRESH_SECONDS = 3.0
"""Time between two looks at the jobs' progress."""
MAX_JOBS_IN_LINE = 4
HEADING = f"{'time':>8} {'left':>10}"
ERROR_START = "nmt: error: "
TAIL_LINES = 10
"""Lines of a failed job's log that are printed if it has no error of `nmt`."""
DISPLAYED_MESSAGES = ("Nothing to be done", "Trying to restart job")
"""Starts of the messages of Snakemake that matter to a person, besides warnings and errors."""


class RunProgress:
    """Prints the progress of a run. Jobs are identified by their logs.

    Args:
        folder: the folder of the experiment.
        start_folder: printed paths are relative to this folder, in which the user called the run.
        stream: the file or terminal for the lines.
        clock: returns seconds.
    """

    def __init__(
        self, folder: Path, start_folder: Path, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._start_folder = start_folder
        self._stream = stream
        self._clock = clock
        self._start_time = self._last_line_time = clock()
        self._jobs: dict[str, jobs.Job] = {}  # log -> job, for the jobs that are not done
        self._start_times: dict[str, float] = {}  # log of a running job -> its start, in seconds of the clock
        self._job_seconds: list[float] = []  # the duration of each finished job, without trainings
        self._max_parallel_jobs = 1
        self._lock = threading.RLock()
        self._has_ended = threading.Event()
        self._watcher = threading.Thread(target=self._refresh_regularly, daemon=True)

    # --- events -------------------------------------------------------------------------------------------------

    def start_job(self, log: str) -> None:
        """Record that a job has started, and print a line if it is a training."""
        with self._lock:
            if self._watcher.ident is None:  # the first job of the run
                self._start_run()
            self._start_times[log] = self._clock()
            self._max_parallel_jobs = max(self._max_parallel_jobs, len(self._start_times))

            job = self._jobs.get(log)
            if job and job.stage == "train":
                status = read_training_status(self._config, self._folder, self._runs[str(job.run)])
                start = (
                    f"resumes after {status.checkpoint_update:,}" if status.checkpoint_update else "begins"
                )
                self._print_job_line(job, f"{start}, {status.planned_updates:,} updates")

    def finish_job(self, log: str) -> None:
        """Record that a job is done, and print a line if a model or a stage is done with it."""
        with self._lock:
            start_time, job = self._start_times.pop(log, None), self._jobs.pop(log, None)
            if job is None or start_time is None:
                return
            seconds = self._clock() - start_time

            # a model, its scores, or the last job of a stage
            if job.stage == "train":
                summary = read_json(self._folder / "models" / str(job.run) / "summary.json")
                text = f"done in {format_duration(seconds)}, dev NLL {summary['dev_nll']:.2f}"
                self._print_job_line(job, text)
                return
            self._job_seconds.append(seconds)
            if job.rule == "bleu":
                scores = read_json(self._folder / job.outputs[0])
                text = f"BLEU {scores['bleu_all']:.2f}"
                if scores["bleu_no_unk"]:
                    text += f", No UNK {scores['bleu_no_unk']:.2f}"
                self._print_job_line(job, text)
            elif all(pending_job.stage != job.stage for pending_job in self._jobs.values()):
                self._print_timed_line(f"{job.stage} done")

    def report_failure(self, log: str) -> bool:
        """Print errors or the last lines of a failed job's log. Return whether it has an error of `nmt`."""
        with self._lock:
            if self._start_times.pop(log, None) is None:  # the second report of the same failure
                return True
            path = self._folder / log
            lines = []
            if path.is_file():
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            errors = [line for line in lines if line.startswith(ERROR_START)]

            job = self._jobs.get(log)
            name = f"{job.stage} {self._name_job(job)}" if job else log
            relative_path = os.path.relpath(path, self._start_folder)
            reasons = errors or lines[-TAIL_LINES:]
            self.print_lines("", f"FAILED: {name}", *reasons, f"log: {relative_path}", "")
            return bool(errors)

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
        self._print_timed_line(f"{job.stage} {self._name_job(job)}: {text}")

    def _draw_last_line(self, text: str) -> None:
        """Replace the last line of a terminal."""
        if self._stream.isatty():
            width = shutil.get_terminal_size().columns
            print(f"\r\033[K{text[: width - 1]}", end="", file=self._stream, flush=True)

    def refresh_line(self) -> None:
        """Show the running jobs: on a terminal always, elsewhere after a minute without a line."""
        # 1. the progress of the first jobs, and the number of others
        running_jobs = [self._jobs[log] for log in self._start_times if log in self._jobs]
        job_texts = []
        for job in running_jobs[:MAX_JOBS_IN_LINE]:
            path = progress.progress_path(self._folder / job.log)
            job_progress = progress.read_progress(path) or JobProgress()
            fraction = job_progress.count / job_progress.total if job_progress.total else 0.0
            job_texts.append(f"{job.stage} {self._name_job(job)} {fraction:.0%}")
        if len(running_jobs) > MAX_JOBS_IN_LINE:
            job_texts.append(f"{len(running_jobs) - MAX_JOBS_IN_LINE} more")
        text = ", ".join(job_texts)

        # 2. on a terminal, or after a while without a line
        if self._stream.isatty():
            time_left = format_hours(self._estimate_hours_left())
            self._draw_last_line(f"about {time_left} left: {text}" if text else "")
        elif text and self._clock() - self._last_line_time >= SILENCE_SECONDS:
            self._print_timed_line(text)

    # --- the run ------------------------------------------------------------------------------------------------

    def _start_run(self) -> None:
        """Read which jobs the run has, and start the thread that watches them."""
        job_list = jobs.started_job_lists[-1]
        self._config = job_list.config
        self._runs = collect_runs(self._config)
        self._jobs = {job.log: job for job in job_list.pending_jobs}
        self.print_lines(HEADING)
        self._watcher.start()

    def _refresh_regularly(self) -> None:
        while not self._has_ended.wait(REFRESH_SECONDS):
            with self._lock:
                self.refresh_line()

    def _name_job(self, job: jobs.Job) -> str:
        """Return what a job works on: the label of its model and its other wildcards, or else the job's name."""
        if job.run not in self._runs:
            return job.name
        model = self._runs[job.run].model
        words = [format_run_label(job.run, {model: self._config.models[model].label})]
        words += [value for name, value in job.wildcards.items() if name not in ("run", "system")]
        return ", ".join(words)

    def _estimate_hours_left(self) -> float:
        """Return the hours left, from the measured speed of trainings and the mean time of other finished jobs."""
        runs = [str(job.run) for job in self._jobs.values() if job.stage == "train"]
        training_times = estimate_training_times(self._config, self._folder, runs)
        total_hours = sum(time.hours for time in training_times)
        if self._job_seconds:
            other_jobs = len(self._jobs) - len(runs)
            total_hours += other_jobs * fmean(self._job_seconds) / 3600

        # the longest chain of trainings that continue each other, or all work divided among the parallel jobs
        return max(
            estimate_parallel_hours(self._config, training_times), total_hours / self._max_parallel_jobs
        )


class LogHandler(LogHandlerBase):
    """Passes on the events of jobs, and prints warnings and errors, but no other lines of Snakemake."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Prepare for the events of a run, and take notice of Ctrl-C."""
        self.start_folder = Path.cwd()  # Snakemake changes to the experiment's folder later
        self.progress: RunProgress | None = None
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
        """Handle a record of Snakemake's log, without an exception if that fails."""
        try:
            self._handle_event(record, getattr(record, "event", None))
        except Exception:
            self.handleError(record)

    def _handle_event(self, record: logging.LogRecord, event: LogEvent | None) -> None:
        """Pass an event of a job on to `RunProgress`, or print a message."""
        fields: dict[str, Any] = vars(record)
        if event == LogEvent.RUN_INFO:
            # From here on only jobs write to standard output, and each has its log.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        elif event == LogEvent.JOB_INFO and fields["log"]:
            log = str(fields["log"][0])
            self.logs[fields["jobid"]] = log
            self._get_progress().start_job(log)
        elif event == LogEvent.JOB_FINISHED and fields["job_id"] in self.logs:
            self._get_progress().finish_job(self.logs[fields["job_id"]])
        elif self.is_interrupted:
            return
        elif event == LogEvent.JOB_ERROR and fields["jobid"] in self.logs:
            self.has_explained_error |= self._get_progress().report_failure(self.logs[fields["jobid"]])
        elif event in (None, LogEvent.ERROR):
            self._print_message(record)

    def _print_message(self, record: logging.LogRecord) -> None:
        """Print a warning, an error that no job's log explains, or one of the few other messages that matter."""
        message = str(record.msg)
        is_unexplained = record.levelno >= logging.WARNING and not self.has_explained_error
        if is_unexplained or message.startswith(DISPLAYED_MESSAGES):
            self._get_progress().print_lines(message)

    def _get_progress(self) -> RunProgress:
        if self.progress is None:
            self.progress = RunProgress(Path.cwd(), self.start_folder, sys.stderr)
        return self.progress

    def close(self) -> None:
        """End the progress of the run."""
        if self.progress:
            self.progress.close()
        super().close()
