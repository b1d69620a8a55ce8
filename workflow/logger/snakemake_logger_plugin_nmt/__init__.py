"""Snakemake's logger for the make targets: the progress of a run for a person, in 80 columns.

A stage has a line when its last job is done; a training when it begins and when it ends; a failure shows what its log
says. On a terminal a last line shows what runs at the moment; elsewhere a line comes at least each minute.
Snakemake's own lines are in `.snakemake/log`, and the output of jobs in their logs.

Snakemake finds the package by its name, in the folder that `workflow/run.py` puts on the path.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from nmt.io import progress
from nmt.io.files import read_json
from nmt.io.progress import JobProgress, format_duration
from pipeline.config.runs import collect_runs
from pipeline.monitor import jobs
from pipeline.monitor.forecast import estimate_parallel_hours, estimate_training_times, format_hours
from pipeline.monitor.status import TrainingStatus, format_run_label, read_training_status

SILENCE = 60.0
"""Seconds without a line, outside of a terminal, after which one says what runs."""
LOOK = 3.0
"""Seconds between two looks at the jobs' progress."""
SHOWN = 4
"""Running jobs that a line names."""
HEADING = f"{'time':>8} {'left':>10}"
ERROR = "nmt: error: "
TAIL = 10
"""Lines of a failed job's log that are shown if it has no error of `nmt`."""
NOTHING_TO_DO = "Nothing to be done"
RESTARTS = "Trying to restart job"


class RunProgress:
    """Prints the progress of a run. It is told when jobs begin and end, and reads their progress from their files.

    Args:
        folder: the experiment's.
        caller: paths are printed as seen from here.
        stream: where to.
        now: seconds of some clock.
    """

    def __init__(
        self, folder: Path, caller: Path, stream: TextIO, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._caller, self._stream, self._now = folder, caller, stream, now
        self._start = self._printed = now()
        self._jobs: dict[str, jobs.Job] = {}  # those that are not done, by their logs
        self._running: dict[str, float] = {}  # since when
        self._seconds: dict[str, list[float]] = {}  # of the jobs that are done, by rule
        self._most_at_once = 1
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._watch = threading.Thread(target=self._look_again, daemon=True)

    def begin(self, log: str) -> None:
        """Tell that a job, identified by its log, has begun."""
        with self._lock:
            if self._watch.ident is None:
                self._read_list()
            self._running[log] = self._now()
            self._most_at_once = max(self._most_at_once, len(self._running))
            job = self._jobs.get(log)
            if job and job.stage == "train":
                status = self._training(job)
                resumed = f"resumes after {status.checkpoint:,}" if status.checkpoint else "begins"
                self._tell(job, f"{resumed}, {status.updates:,} updates")

    def end(self, log: str) -> None:
        """Tell that a job is done."""
        with self._lock:
            begun, job = self._running.pop(log, None), self._jobs.pop(log, None)
            if job is None or begun is None:
                return
            self._seconds.setdefault(job.rule, []).append(self._now() - begun)
            if job.stage == "train":
                summary = read_json(self._folder / "models" / str(job.run) / "summary.json")
                seconds = 3600 * (summary["hours"] - self._hours_of_base(job))
                self._tell(job, f"done in {format_duration(seconds)}, dev NLL {summary['dev_nll']:.2f}")
            elif job.rule == "score":
                score = read_json(self._folder / job.outputs[0])
                no_unk = score["bleu_no_unk"]
                self._tell(
                    job, f"BLEU {score['bleu_all']:.2f}" + (f", No UNK {no_unk:.2f}" if no_unk else "")
                )
            elif not any(other.stage == job.stage for other in self._jobs.values()):
                self._line(f"{job.stage} done")

    def _hours_of_base(self, job: jobs.Job) -> float:
        """Return the hours of the run that this one continues, which its own include; 0 if it continues none."""
        base = self._runs[str(job.run)].base
        hours: float = read_json(self._folder / "models" / base / "summary.json")["hours"] if base else 0.0
        return hours

    def fail(self, log: str) -> bool:
        """Tell of a failed job. Return whether its log says why."""
        with self._lock:
            if self._running.pop(log, None) is None:  # it was shown before
                return True
            lines = self._lines(log)
            errors = [line for line in lines if line.startswith(ERROR)]
            job, path = self._jobs.get(log), os.path.relpath(self._folder / log, self._caller)
            name = f"{job.stage} {self._name(job)}" if job else log
            self.say("", f"FAILED: {name}", *(errors or lines[-TAIL:]), f"log: {path}", "")
            return bool(errors)

    def _lines(self, log: str) -> list[str]:
        path = self._folder / log
        return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []

    def say(self, *lines: str) -> None:
        """Print lines as they are."""
        with self._lock:
            self._show("")
            print(*lines, sep="\n", file=self._stream, flush=True)
            self._printed = self._now()

    def close(self) -> None:
        """End the thread that watches the jobs."""
        self._ended.set()
        if self._watch.is_alive():
            self._watch.join()
        self._show("")

    def _read_list(self) -> None:
        listed = jobs.started_runs[-1]
        self._config = listed.config
        self._runs = collect_runs(self._config, list(self._config.models))
        self._jobs = {job.log: job for job in listed.pending_jobs}
        self.say(HEADING)
        self._watch.start()

    def _look_again(self) -> None:
        while not self._ended.wait(LOOK):
            with self._lock:
                self.look()

    def look(self) -> None:
        """Show what runs: on a terminal always, elsewhere after a minute without a line."""
        running = [self._jobs[log] for log in self._running if log in self._jobs]
        shares = [f"{job.stage} {self._name(job)} {self._share(job.log):.0%}" for job in running]
        text = ", ".join(shares[:SHOWN] + [f"{len(shares) - SHOWN} more"] * (len(shares) > SHOWN))
        if self._stream.isatty():
            self._show(f"about {self._time_left()} left: {text}" if running else "")
        elif running and self._now() - self._printed >= SILENCE:
            self._line(text)

    def _share(self, log: str) -> float:
        reading = progress.read_progress(progress.progress_path(self._folder / log)) or JobProgress()
        return reading.count / reading.total if reading.total else 0.0

    def _tell(self, job: jobs.Job, text: str) -> None:
        self._line(f"{job.stage} {self._name(job)}: {text}")

    def _line(self, text: str) -> None:
        self.say(f"{format_duration(self._now() - self._start):>8} {self._time_left():>10}  {text}")

    def _name(self, job: jobs.Job) -> str:
        """Return what a job works on: a model by its label and what else tells it apart, or a text."""
        if job.run not in self._runs:
            return job.name
        others = [value.strip("/") for name, value in job.wildcards.items() if name != "model"]
        return ", ".join([format_run_label(self._config, self._runs[job.run]), *filter(None, others)])

    def _training(self, job: jobs.Job) -> TrainingStatus:
        return read_training_status(self._config, self._folder, self._runs[str(job.run)])

    def _time_left(self) -> str:
        """Return the time left of the whole run in words."""
        return format_hours(self._hours_left())

    def _hours_left(self) -> float:
        """Return the hours left: training at measured rates, other jobs at their rule's mean time."""
        runs = [str(job.run) for job in self._jobs.values() if job.stage == "train"]
        times = estimate_training_times(self._config, self._folder, runs)
        means = {rule: sum(known) / len(known) for rule, known in self._seconds.items() if rule != "train"}
        usual = sum(means.values()) / len(means) if means else 0.0
        rest = sum(means.get(job.rule, usual) for job in self._jobs.values() if job.stage != "train")
        all_hours = sum(time.hours for time in times) + rest / 3600
        return max(estimate_parallel_hours(self._config, times), all_hours / self._most_at_once)

    def _show(self, text: str) -> None:
        """Show a text in the last line of a terminal."""
        if self._stream.isatty():
            width = shutil.get_terminal_size().columns
            print(f"\r\033[K{text[: width - 1]}", end="", file=self._stream, flush=True)


class LogHandler(LogHandlerBase):
    """Passes on the events of jobs, and prints warnings and errors, but no other lines of Snakemake."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin without knowledge of the run."""
        self.caller = Path.cwd()  # Snakemake goes to the experiment's folder later
        self.progress: RunProgress | None = None
        self.logs: dict[int, str] = {}
        self.explained = False
        self.interrupted = False
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Take note of Ctrl-C: that all jobs then fail is nothing to tell."""
        self.interrupted = True
        if callable(self._handler):
            self._handler(number, frame)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a person wants to know of a record."""
        try:
            self._handle(record, getattr(record, "event", None))
        except Exception:
            self.handleError(record)

    def _handle(self, record: logging.LogRecord, event: LogEvent | None) -> None:
        fields: dict[str, Any] = vars(record)
        if event == LogEvent.RUN_INFO:
            # From here on only jobs write to standard output, and each has its log.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        elif event == LogEvent.JOB_INFO and fields["log"]:
            self.logs[fields["jobid"]] = str(fields["log"][0])
            self._run().begin(str(fields["log"][0]))
        elif event == LogEvent.JOB_FINISHED and fields["job_id"] in self.logs:
            self._run().end(self.logs[fields["job_id"]])
        elif self.interrupted:
            return
        elif event == LogEvent.JOB_ERROR and fields["jobid"] in self.logs:
            self.explained |= self._run().fail(self.logs[fields["jobid"]])
        elif event in (None, LogEvent.ERROR):
            self._print(record)

    def _print(self, record: logging.LogRecord) -> None:
        """Print a warning, an error that no job's log explains, or one of the few other lines that matter."""
        message = str(record.msg)
        wanted = record.levelno >= logging.WARNING and not self.explained
        if wanted or message.startswith((RESTARTS, NOTHING_TO_DO)):
            self._run().say(message)

    def _run(self) -> RunProgress:
        if self.progress is None:
            self.progress = RunProgress(Path.cwd(), self.caller, sys.stderr)
        return self.progress

    def close(self) -> None:
        """End the progress of the run."""
        if self.progress:
            self.progress.close()
        super().close()
