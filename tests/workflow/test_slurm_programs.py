"""What stands before Slurm's own programs: submissions that wait, states that the executor understands."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from snakemake_executor_plugin_slurm.accounts import validate_account
from snakemake_interface_common.exceptions import WorkflowError

from nmt.errors import RecurringError, UserError
from tests.messages import check
from tests.running import ROOT, SLURM_PROGRAMS, programs_but
from workflow.cluster import PROGRAMS, put_wrappers_first

PASSING = [
    "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
    "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    "sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size"
    " and/or time limits)",
    "sbatch: error: Batch job submission failed: Required partition not available (inactive or drain)",
    "sbatch: error: Batch job submission failed: Slurm backup controller in standby mode",
]
FOR_GOOD = [
    "sbatch: error: invalid partition specified: gpus\n"
    "sbatch: error: Batch job submission failed: Invalid partition name specified",
    "sbatch: error: invalid partition specified: standby\n"
    "sbatch: error: Batch job submission failed: Invalid partition name specified",
    "sbatch: error: Batch job submission failed: Requested node configuration is not available",
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
    "sbatch: error: QOSMaxWallDurationPerJobLimit\n"
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size"
    " and/or time limits)",
]
RUN = "rule_train_wildcards_small"


def stand_in(folder: Path, name: str, script: str) -> dict[str, str]:
    """An environment in which Slurm's program is a script, behind the project's own; without jobs, by default."""
    program = folder / "slurm" / name
    program.parent.mkdir(exist_ok=True)
    for place, text in {program.with_name("squeue"): "exit 0", program: script}.items():
        if place == program or not place.exists():
            place.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            place.chmod(0o755)
    path = os.pathsep.join([str(PROGRAMS), str(program.parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "NMT_SBATCH_PAUSE": "0"}


def call(folder: Path, environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("complaint", PASSING)
def test_submission_waits_for_passing_errors(tmp_path: Path, complaint: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "complaint").write_text(complaint, encoding="utf-8")
    script = 'echo "$@" >> calls; [ $(wc -l < calls) = 3 ] && echo 42 && exit 0; cat complaint >&2; exit 1'
    result = call(tmp_path, stand_in(tmp_path, "sbatch", script), "sbatch", "--wrap", "a  'b' \"c\"")
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n", "")
    sent = "--requeue --wrap a  'b' \"c\""  # back into the queue after a preemption or the loss of a node
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines() == [sent] * 3
    assert (tmp_path / "logs" / "sbatch.log").read_text(encoding="utf-8").count(complaint) == 2


@pytest.mark.parametrize("answer", ["4242001", "4242001;north"])
def test_submission_answers_the_job_number_alone(tmp_path: Path, answer: str) -> None:
    (tmp_path / ".snakemake").mkdir()
    script = f"printf 'A node has 128 CPU cores.\\n512\\n%s\\nCharged: 64\\n' '{answer}'"
    result = call(tmp_path, stand_in(tmp_path, "sbatch", script), "sbatch", "--job-name", "run1", "job.sh")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{answer}\n", "")
    assert (tmp_path / ".snakemake" / "slurm_sent").read_text(encoding="utf-8").startswith("run1 4242001 ")


@pytest.mark.parametrize("complaint", FOR_GOOD)
def test_permanent_error_fails_immediately(tmp_path: Path, complaint: str) -> None:
    (tmp_path / "complaint").write_text(complaint, encoding="utf-8")
    script = "echo once >> calls; cat complaint >&2; exit 3"
    result = call(tmp_path, stand_in(tmp_path, "sbatch", script), "sbatch", "job.sh")
    assert (result.returncode, result.stdout, result.stderr) == (3, "", complaint + "\n")
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "once\n"


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


SENDER = """\
import os, sys, time
from workflow.cluster import put_wrappers_first
put_wrappers_first()
print(os.environ["NMT_SENDER"], flush=True)
time.sleep(60)
"""


def test_waiting_submission_ends_with_snakemake(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "sbatch", f"echo once >> calls; echo '{PASSING[0]}' >&2; exit 1")
    with (tmp_path / "sender.log").open("wb") as log:
        command = [sys.executable, "-c", SENDER]
        sender = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True)
    assert sender.stdout is not None
    environment |= {"NMT_SENDER": sender.stdout.readline().strip(), "NMT_SBATCH_PAUSE": "1"}
    process = subprocess.Popen(["sbatch", "--comment", RUN, "job.sh"], cwd=tmp_path, env=environment)
    wait_for(lambda: (tmp_path / "sender.log").stat().st_size > 0)
    wait_for(
        lambda: (tmp_path / "calls").read_text().count("once") >= 3
    )  # so a second refusal was dealt with
    assert process.poll() is None
    sender.kill()
    sender.wait()
    assert process.wait(timeout=120) == 1
    expected = f"{RUN}: not taken yet, tried again until it is: {PASSING[0]}\n"
    assert (tmp_path / "sender.log").read_text(encoding="utf-8") == expected


LOGS = Path("logs with space")


def test_recurring_error_is_not_resubmitted(tmp_path: Path) -> None:
    logs = tmp_path / LOGS / "rule_train" / "small"
    logs.mkdir(parents=True)
    (logs / "1.log").write_text(f"update 7\nnmt: error: {RecurringError('out of memory')}\nrule failed\n")
    begun = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    environment = stand_in(tmp_path, "sbatch", "echo sent") | {"NMT_BEGUN": begun}
    stand_in(tmp_path, "squeue", "true")
    command = ["sbatch", "--output", f"{logs}/%j.log", "--comment", RUN]
    result = call(tmp_path, environment, *command)
    assert (result.returncode, result.stdout) == (1, "")
    check(result.stderr)
    # a head that began later may have other settings
    environment["NMT_BEGUN"] = (datetime.now(UTC) + timedelta(seconds=5)).isoformat()
    assert call(tmp_path, environment, *command).stdout == "sent\n"
    # other errors may pass, such as a full disk
    (logs / "1.log").write_text(f"nmt: error: {UserError('the disk is full')}\n")
    environment["NMT_BEGUN"] = begun
    assert call(tmp_path, environment, *command).stdout == "sent\n"


def test_wrappers_come_first_on_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PATH", "NMT_SENDER", "NMT_GPUS", "NMT_BEGUN"):
        monkeypatch.setenv(name, "1")
    put_wrappers_first()
    assert os.environ["PATH"] == f"{PROGRAMS}:1"
    assert Path(os.environ["NMT_SENDER"]).exists()
    assert "NMT_GPUS" not in os.environ  # a pool of this machine


def test_job_depends_on_same_work_elsewhere(tmp_path: Path) -> None:
    logs = tmp_path / LOGS / "rule_train"
    environment = stand_in(tmp_path, "sbatch", 'echo "$@"')
    jobs = [(1, "them", logs / "small" / "1.log"), (22, "them", logs / "small" / "%j.log")]
    jobs += [(3, "them", logs / "smaller" / "3.log"), (4, "us", logs / "small" / "%j.log")]
    lines = [f"{number:<20}{name:<20}{log!s:<200}" for number, name, log in jobs]
    (tmp_path / "queue").write_text("\n".join([*lines, ""]), encoding="utf-8")
    stand_in(tmp_path, "squeue", f"cat '{tmp_path}/queue'")
    sent = call(
        tmp_path, environment, "sbatch", "--job-name", "us", "--output", f"{logs}/small/%j.log", "--nice=7"
    )
    options = sent.stdout.partition("--job-name")[0].split()
    assert options == ["--requeue", "--dependency=afterany:1:22"]


def test_states_are_known_to_the_executor(tmp_path: Path) -> None:
    states = (
        "1|RUNNING\n2|PREEMPTED\n3|CANCELLED by 1000\n4|COMPLETED\n5|NODE_FAIL\n6|REVOKED\n7|SPECIAL_EXIT"
    )
    environment = stand_in(tmp_path, "squeue", f"echo '{states}'")
    result = call(tmp_path, environment, "squeue", "--format=%i|%T", "--name", "us")
    lost = "6|CANCELLED\n7|CANCELLED\n"
    assert result.stdout == f"1|RUNNING\n2|CANCELLED\n3|CANCELLED\n4|COMPLETED\n5|NODE_FAIL\n{lost}"


def test_requeued_job_counts_as_running(tmp_path: Path) -> None:
    states = "1|RUNNING\n2|PREEMPTED\n5|PREEMPTED\n6|NODE_FAIL\n22|PREEMPTED"
    environment = stand_in(tmp_path, "sacct", f"echo '{states}'")
    stand_in(tmp_path, "squeue", "printf '1\\n2\\n6\\n'")
    result = call(tmp_path, environment, "sacct", "-X", "--name", "us")
    lines = ["1|RUNNING", "22|CANCELLED", "2|RUNNING", "5|CANCELLED", "6|RUNNING"]
    assert sorted(result.stdout.splitlines()) == lines
    stand_in(tmp_path, "squeue", "echo 'slurm_load_jobs error' >&2; exit 1")
    assert call(tmp_path, environment, "sacct", "-X", "--name", "us").stdout == ""  # asked again later


@pytest.mark.parametrize("program", ["squeue", "sacct"])
def test_failed_status_query_is_an_empty_answer(tmp_path: Path, program: str) -> None:
    environment = stand_in(tmp_path, program, "echo '1|RUNNING'; echo 'slurm_load_jobs error' >&2; exit 1")
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stdout) == (0, "")


def test_forgotten_job_is_unknown(tmp_path: Path) -> None:
    (tmp_path / ".snakemake").mkdir()
    environment = stand_in(tmp_path, "squeue", "echo '41|RUNNING'")
    stand_in(tmp_path, "sbatch", "echo 43")
    call(tmp_path, environment, "sbatch", "--job-name", "us", "--output", "logs/a/%j.log")
    sent = tmp_path / ".snakemake" / "slurm_sent"
    before = round(time.time()) - 300
    sent.write_text(f"us 41 {before}\nus 42 {before}\nthem 44 {before}\n{sent.read_text()}")
    assert call(tmp_path, environment, "squeue", "--name", "us").stdout == "41|RUNNING\n42|UNKNOWN\n"


@pytest.mark.parametrize("away", [False, True])
def test_accepted_job_is_not_submitted_twice(tmp_path: Path, away: bool) -> None:
    (tmp_path / ".snakemake").mkdir()
    environment = stand_in(tmp_path, "sbatch", f'echo "$7" >> comments; echo "{PASSING[1]}" >&2; exit 1')
    listed = "echo '40 another'; [ ! -e comments ] || echo \"42 $(cat comments)\""
    once = "[ ! -e comments ] || [ -e asked ] || { touch asked; exit 1; }\n"
    stand_in(tmp_path, "squeue", once * away + listed)
    result = call(
        tmp_path, environment, "sbatch", "--job-name", "us", "--output", "logs/%j.log", "--comment", RUN
    )
    assert (result.returncode, result.stdout) == (0, "42\n")
    (comment,) = (tmp_path / "comments").read_text(encoding="utf-8").splitlines()
    assert comment.split()[0] == RUN


def test_head_is_resubmitted_with_its_options(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "sbatch", 'printf "%s\\n" "$@" > sent')
    stand_in(tmp_path, "scontrol", "exit 1")
    stand_in(tmp_path, "squeue", 'case "$*" in *%l*) echo 7-00:00:00 ;; esac')
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "run.py").write_text(
        f"import pathlib, time; pathlib.Path({str(tmp_path / 'begun')!r}).touch(); time.sleep(60)",
        encoding="utf-8",
    )
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    environment |= {"SLURM_JOB_ID": "9", "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_PARTITION": "cpu"}
    environment |= {"SLURM_JOB_ACCOUNT": "us", "SLURM_JOB_QOS": "long"}
    head = subprocess.Popen(
        ["bash", str(PROGRAMS.parent / "head.sbatch"), ".", "--jobs", "3"],
        env=environment,
        start_new_session=True,
    )
    wait_for((tmp_path / "begun").exists)
    head.send_signal(signal.SIGUSR1)
    assert head.wait(timeout=120) != 0
    options = ["--partition=cpu", "--time=7-00:00:00", "--account=us", "--qos=long"]
    sent = (tmp_path / "sent").read_text(encoding="utf-8").splitlines()
    assert sent == ["--requeue", *options, "slurm/head.sbatch", ".", "--jobs", "3"]


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sshare"])
def test_failed_query_before_submission_is_empty(tmp_path: Path, program: str) -> None:
    environment = stand_in(tmp_path, program, f'echo "{program} $1"')
    assert call(tmp_path, environment, program, "one  two").stdout == f"{program} one  two\n"
    stand_in(tmp_path, program, "echo 'Unable to contact slurm controller' >&2; echo partial; exit 1")
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stdout) == (0, "")
    (tmp_path / "slurm" / program).unlink()
    environment["PATH"] = f"{PROGRAMS}:{programs_but(tmp_path, SLURM_PROGRAMS)}"
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stdout) == (0, "")


def test_unknown_account_is_left_to_sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = stand_in(tmp_path, "sacctmgr", "exit 1")
    stand_in(tmp_path, "sshare", "exit 1")
    monkeypatch.setenv("PATH", environment["PATH"])
    assert validate_account("us", logging.getLogger()) == ""
    stand_in(tmp_path, "sacctmgr", "echo us; echo them")
    assert validate_account("us", logging.getLogger()) == "us"
    with pytest.raises(WorkflowError, match="appears to be invalid"):
        validate_account("others", logging.getLogger())
