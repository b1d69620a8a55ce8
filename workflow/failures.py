"""What follows when a job fails: the reason in words, and no repetition of a job that would fail in the same way."""

import logging
import re
from pathlib import Path
from typing import Any

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from nmt.errors import PERMANENT_ERROR_END
from pipeline.config.folder import is_of_last_run
from workflow import internals

STATES = {
    "CANCELLED": "was cancelled, or lost its place to another job",
    "NODE_FAIL": "lost its node",
    "TIMEOUT": "reached its time limit",
    "OUT_OF_MEMORY": "used more memory than it had asked for",
}
"""The states of jobs that Slurm has ended. The log of such a job does not tell why it ended."""


def watch_failures(workflow: Any) -> None:
    """Handle each failure of a job before Snakemake decides whether to repeat the job."""
    logger.addFilter(FailureFilter(workflow))


class FailureFilter(logging.Filter):
    """Reads the records of Snakemake's log in the thread that writes them, so before a failed job is repeated.

    The record of a failure gets two attributes for `workflow/logger`: `reason`, unless the log of the job tells it, and
    `next_attempt`, such as "2 of 20", if the job is repeated. Of equal warnings only the first one is logged.
    """

    def __init__(self, workflow: Any) -> None:
        super().__init__()
        self._workflow = workflow
        self._warnings = set[str]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Handle the failure of a job. Return whether the record is logged: all but repeated warnings."""
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_ERROR:
            self._handle_failure(vars(record))
        elif event is None and record.levelno == logging.WARNING:
            message = record.getMessage()
            if message in self._warnings:
                return False
            self._warnings.add(message)
        return True

    def _handle_failure(self, fields: dict[str, Any]) -> None:
        """Add the reason and the next attempt to the fields of a record. Prevent an attempt that would fail again."""
        # 1. the reason
        message = str(fields.get("rule_msg") or "")
        refusal = find_refusal(message)
        fields["reason"] = f"Slurm refuses it: {refusal}" if refusal else describe_state(message)
        if fields["reason"]:
            fields["rule_msg"] = fields["reason"]

        # 2. the next attempt, if there is one
        job = internals.find_job(self._workflow, fields["jobid"])
        if refusal or self._has_permanent_error(fields["log"]):
            internals.give_up(job)
        fields["next_attempt"] = None
        if job.restart_times >= job.attempt:
            fields["next_attempt"] = f"{job.attempt + 1} of {job.restart_times + 1}"

    def _has_permanent_error(self, logs: list[str]) -> bool:
        """Return whether a log of this call of Snakemake ends with an error that a repetition would meet again."""
        for log in map(Path, logs):
            if log.is_file() and is_of_last_run(log):
                text = log.read_text(encoding="utf-8", errors="replace")
                if f"{PERMANENT_ERROR_END}\n" in text:
                    return True
        return False


def find_refusal(message: str) -> str | None:
    """Return why a job was not submitted, in sbatch's words, or None if it was.

    slurm/bin/sbatch repeats submissions that may succeed later, so any other refusal is final.
    """
    # 1. sbatch has failed: "sbatch: error: Batch job submission failed: Invalid qos" -> "Invalid qos"
    match = re.match(r"SLURM sbatch failed\. The error message was '(.*?)'\.\n", message, re.DOTALL)
    if match:
        lines = re.findall(
            r"^(?:sbatch: )?(?:error: )?(?:Batch job submission failed: )?(.+)$", match[1], re.M
        )
        distinct_lines = list(dict.fromkeys(lines))
        return "; ".join(distinct_lines) or "sbatch says nothing"

    # 2. Snakemake's executor has failed before it called sbatch
    match = re.match(
        "Job submission failed with exception: (.*?)(?:For further error details|$)", message, re.DOTALL
    )
    return match[1].strip().replace("\n", " ") if match else None


def describe_state(message: str) -> str | None:
    """Return what Slurm has done to a job, or None if the job itself has failed.

    Example: "Slurm's job 18 reached its time limit".
    """
    match = re.match(
        r"SLURM-job '(?P<id>[^']*)' failed.*?SLURM status is: '(?P<state>\w+)'", message, re.DOTALL
    )
    if match is None or match["state"] not in STATES:
        return None
    return f"Slurm's job {match['id']} {STATES[match['state']]}"
