"""Why a job failed, from the messages of Snakemake's executor for Slurm (2.8.0)."""

import logging
import os
import time
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from nmt.errors import PermanentError, UserError
from nmt.io.files import write_text
from pipeline.config.folder import RUN_SETTINGS
from workflow.failures import FailureFilter, describe_state, find_refusal

END = "For further error details see the cluster/cloud log and the log files of the involved rule(s)."
REFUSED = (
    """\
SLURM sbatch failed. The error message was 'sbatch: error: Memory specification can not be satisfied
sbatch: error: Batch job submission failed: Requested node configuration is not available'.
    sbatch call:
        sbatch --job-name 'a'
"""
    + END
)
CANCELLED = f"SLURM-job '18' failed, SLURM status is: 'CANCELLED'. Detailed failure reason unavailable. {END}"


class FailedJob:
    """A job of Snakemake's that was tried once, and may be tried five times."""

    restart_times = 4
    _attempt = 1

    @property
    def attempt(self) -> int:
        return self._attempt


def test_reason_in_the_words_of_slurm():
    reason = "Memory specification can not be satisfied; Requested node configuration is not available"
    assert find_refusal(REFUSED) == reason
    account = f"Job submission failed with exception: The account 'us' appears to be invalid.{END}"
    assert find_refusal(account) == "The account 'us' appears to be invalid."
    assert find_refusal(CANCELLED) is None
    state = describe_state(CANCELLED)
    assert state and "job 18 was cancelled" in state
    assert describe_state(CANCELLED.replace("CANCELLED", "FAILED")) is None  # its log tells


@pytest.mark.parametrize(
    ("message", "error", "log_seconds", "next_attempt"),
    [
        (CANCELLED, None, 1, "2 of 5"),
        (CANCELLED, UserError("disk full"), 1, "2 of 5"),
        (CANCELLED, PermanentError("out of memory"), 1, None),
        (CANCELLED, PermanentError("out of memory, in an earlier run"), -1, "2 of 5"),
        (REFUSED, None, 1, None),
    ],
)
def test_final_failures_are_not_repeated(tmp_path, monkeypatch, message, error, log_seconds, next_attempt):
    monkeypatch.chdir(tmp_path)
    job = FailedJob()
    workflow = SimpleNamespace(dag=SimpleNamespace(jobs=[job], jobid=lambda _: 7))
    failures = FailureFilter(workflow)
    log = tmp_path / "a.log"
    if error:
        log.write_text(f"update 7\nerror: {error}\n")
        # by the clock of a file server that is an hour behind
        server_time = time.time() - 3600
        write_text(RUN_SETTINGS, "")
        os.utime(RUN_SETTINGS, (server_time, server_time))
        os.utime(log, (server_time + log_seconds, server_time + log_seconds))
    record = logging.LogRecord("", logging.ERROR, "", 1, "", None, None)
    vars(record).update(event=LogEvent.JOB_ERROR, jobid=7, log=[str(log)], rule_msg=message)
    assert failures.filter(record)
    assert vars(record)["next_attempt"] == next_attempt
