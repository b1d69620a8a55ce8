"""Snakemake's logger for the make targets. It prints the progress of a run (`workflow.progress`).

Snakemake's own lines are in `.snakemake/log`, and the output of jobs in their logs. Snakemake finds the package by its
name, in the folder that `workflow/run.py` puts on the path.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.progress import RunProgress

NOTHING_TO_DO = "Nothing to be done"
RESTARTS = "Trying to restart job"
AGAIN = "NMT_AGAIN"
"""The environment variable that is set if `workflow/run.py` looks a second time."""


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

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a person wants to know of a record."""
        try:
            self._hear(record, getattr(record, "event", None))
        except Exception:
            self.handleError(record)

    def _hear(self, record: logging.LogRecord, event: LogEvent | None) -> None:
        fields: dict[str, Any] = vars(record)
        if event == LogEvent.RUN_INFO:
            # From here on only jobs write to standard output, and each has its log.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        elif event == LogEvent.JOB_INFO and fields["log"]:
            self.logs[fields["jobid"]] = str(fields["log"][0])
            self._run().begin(str(fields["log"][0]))
        elif event == LogEvent.JOB_FINISHED and fields["job_id"] in self.logs:
            self._run().end(self.logs[fields["job_id"]])
        elif event == LogEvent.GROUP_ERROR:
            # an error of each of its jobs follows, which says no more
            failed = [job["jobid"] for job in fields["job_error_info"]]
            logs = [self.logs.pop(jobid) for jobid in failed if jobid in self.logs]
            self.explained |= self._run().fail_together(logs)
        elif event == LogEvent.JOB_ERROR and fields["jobid"] in self.logs:
            self.explained |= self._run().fail(self.logs[fields["jobid"]])
        elif event in (None, LogEvent.ERROR):
            self._print(record)

    def _print(self, record: logging.LogRecord) -> None:
        """Print a warning, an error that no job's log explains, or one of the few other lines that matter."""
        message = str(record.msg)
        wanted = record.levelno >= logging.WARNING and not self.explained
        others = (RESTARTS,) if os.environ.get(AGAIN) else (RESTARTS, NOTHING_TO_DO)
        if wanted or message.startswith(others):
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
