"""What stands before Slurm's own programs: submissions that wait, states that the executor understands."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from snakemake_executor_plugin_slurm.accounts import validate_account
from snakemake_interface_common.exceptions import WorkflowError

from nmt.errors import RecurringError, UserError
from tests.messages import check
from tests.running import ROOT, SLURM_PROGRAMS, programs_but
from workflow.cluster import PROGRAMS, use_own_programs

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
    """An environment in which Slurm's program is a script, behind the project's own."""
    program = folder / "slurm" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    path = os.pathsep.join([str(PROGRAMS), str(program.parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "NMT_SBATCH_PAUSE": "0"}


def call(folder: Path, environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=20
    )


@pytest.mark.parametrize("complaint", PASSING)
def test_a_submission_waits_for_a_controller_that_is_away_or_full(tmp_path: Path, complaint: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "complaint").write_text(complaint, encoding="utf-8")
    script = 'echo "$@" >> calls; [ $(wc -l < calls) = 3 ] && echo 42 && exit 0; cat complaint >&2; exit 1'
    result = call(tmp_path, stand_in(tmp_path, "sbatch", script), "sbatch", "--wrap", "a  'b' \"c\"")
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n", "")
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines() == ["--wrap a  'b' \"c\""] * 3
    assert (tmp_path / "logs" / "sbatch.log").read_text(encoding="utf-8").count(complaint) == 2


@pytest.mark.parametrize("complaint", FOR_GOOD)
def test_a_submission_that_is_refused_for_good_fails_at_once(tmp_path: Path, complaint: str) -> None:
    (tmp_path / "complaint").write_text(complaint, encoding="utf-8")
    script = "echo once >> calls; cat complaint >&2; exit 3"
    result = call(tmp_path, stand_in(tmp_path, "sbatch", script), "sbatch", "job.sh")
    assert (result.returncode, result.stdout, result.stderr) == (3, "", complaint + "\n")
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "once\n"


def test_a_wait_ends_when_it_is_told_to(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "sbatch", f"echo '{PASSING[0]}' >&2; exit 1")
    process = subprocess.Popen(["sbatch"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    time.sleep(0.5)
    assert process.poll() is None
    process.terminate()
    assert process.wait(timeout=10) != 0


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


HEAD = """\
import os, sys, time
from workflow.cluster import use_own_programs
use_own_programs({})
print(os.environ["NMT_HEAD"], flush=True)
time.sleep(60)
"""


def test_the_head_says_once_that_a_submission_waits_which_ends_with_the_head(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "sbatch", f"echo '{PASSING[0]}' >&2; exit 1")
    with (tmp_path / "head.log").open("wb") as said:
        command = [sys.executable, "-c", HEAD]
        head = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=said, text=True)
    assert head.stdout is not None
    environment |= {"NMT_HEAD": head.stdout.readline().strip(), "NMT_SBATCH_PAUSE": "1"}
    process = subprocess.Popen(["sbatch", "--comment", RUN, "job.sh"], cwd=tmp_path, env=environment)
    wait_for(lambda: (tmp_path / "head.log").stat().st_size > 0)
    time.sleep(2)  # in which a second submission is refused, too
    assert process.poll() is None
    head.kill()
    head.wait()
    assert process.wait(timeout=20) == 1
    expected = f"{RUN}: not taken yet, tried again until it is: {PASSING[0]}\n"
    assert (tmp_path / "head.log").read_text(encoding="utf-8") == expected


LOGS = Path("logs with space")
HEAD_NAME = "0123"


def submitted(
    folder: Path, queue: str = "", logs: Path = LOGS / "rule_train" / "small", **variables: str
) -> str:
    """The options with which Slurm's sbatch is called, `queue` being what squeue says."""
    (folder / "queue").write_text(queue, encoding="utf-8")
    environment = stand_in(folder, "sbatch", 'echo "$@"') | variables
    stand_in(folder, "squeue", f"cat '{folder}/queue'")
    (folder / logs).mkdir(parents=True, exist_ok=True)
    options = ["--job-name", HEAD_NAME, "--output", f"{folder / logs}/%j.log", "--comment", RUN, "--nice=7"]
    return call(folder, environment, "sbatch", *options).stdout.partition("--job-name")[0].strip()


def queued(lines: Iterable[tuple[int, Path]], head: str = "other") -> str:
    """What squeue says of jobs, by number and log."""
    return "".join(f"{number:<20}{head:<20}{log!s:<200}\n" for number, log in lines)


def test_a_training_job_gets_its_place_before_the_user_s_own_options(tmp_path: Path) -> None:
    nice = f"rule_train_wildcards_smaller=20 {RUN}=10 rule_train_wildcards_other=0"
    assert submitted(tmp_path, NMT_NICE=nice) == "--nice=10"
    assert submitted(tmp_path) == ""


def test_what_would_end_the_same_is_not_sent_again_by_the_same_head(tmp_path: Path) -> None:
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


def test_what_the_head_hands_on_to_its_programs_and_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATH", "NMT_HEAD", "NMT_NICE", "NMT_GPUS", "NMT_BEGUN"):
        monkeypatch.setenv(name, "1")
    use_own_programs({"small": 0, "large": 20})
    assert os.environ["PATH"] == f"{PROGRAMS}:1"
    assert Path(os.environ["NMT_HEAD"]).exists()
    assert os.environ["NMT_NICE"] == "rule_train_wildcards_small=0 rule_train_wildcards_large=20"
    assert "NMT_GPUS" not in os.environ  # a pool of the head's machine; Slurm grants GPUs of its own


def test_a_job_waits_for_its_doubles(tmp_path: Path) -> None:
    logs = tmp_path / LOGS / "rule_train"
    lines = [(1, logs / "small" / "1.log"), (22, logs / "small" / "%j.log")]
    lines += [(3, logs / "smaller" / "3.log"), (4, logs / "small" / "deeper" / "4.log"), (5, logs / "5.log")]
    assert submitted(tmp_path, queued(lines)) == "--dependency=afterany:1:22"


def test_jobs_that_are_sent_together_wait_for_all_that_do_a_part_of_the_same_work(tmp_path: Path) -> None:
    names = [
        "group_text.news-1.3_clean_tokenize",
        "group_text.news-1.3_tokenize",
        "group_text.news-1.33_tokenize",
    ]
    folders = [LOGS / name for name in names]
    lines = [(number, tmp_path / folder / "%j.log") for number, folder in enumerate(folders)]
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    assert submitted(tmp_path, queued(lines), folders[0]) == "--dependency=afterany:0:1"
    # this head sends other shards of a corpus under the same name
    assert submitted(tmp_path, queued(lines, HEAD_NAME), folders[0]) == ""
    for folder in folders:
        (tmp_path / folder / "7.log").write_text("a fault", encoding="utf-8")
    assert submitted(tmp_path, "", folders[0]) == "--begin=now+2minutes"
    assert submitted(tmp_path, "", folders[2]) == ""


def test_jobs_that_fail_one_after_the_other_wait_longer_each_time(tmp_path: Path) -> None:
    logs = tmp_path / LOGS / "rule_train" / "small"
    logs.mkdir(parents=True)
    no_faults = [
        "small: stopped after update 5",
        "*** JOB 3 ON n CANCELLED AT 2026-11-01T01:00:00 DUE TO PREEMPTION",
    ]
    for number, text in enumerate(no_faults):
        (logs / f"{number}.log").write_text(text, encoding="utf-8")
    (logs / "old.log").write_text("CUDA error", encoding="utf-8")
    os.utime(logs / "old.log", (1, 1))
    begins = []
    for number in range(10, 17):
        begins.append(submitted(tmp_path).removeprefix("--begin=now+").removesuffix("minutes"))
        (logs / f"{number}.log").write_text("CUDA error", encoding="utf-8")
    assert begins == ["", "", "2", "4", "8", "16", "30"]


def test_states_are_those_that_the_executor_knows(tmp_path: Path) -> None:
    said = "1|RUNNING\n2|PREEMPTED\n3|CANCELLED by 1000\n4|COMPLETED\n5|NODE_FAIL"
    environment = stand_in(tmp_path, "squeue", f"echo '{said}'")
    result = call(tmp_path, environment, "squeue", "--format=%i|%T")
    assert result.stdout == "1|RUNNING\n2|CANCELLED\n3|CANCELLED\n4|COMPLETED\n5|CANCELLED\n"


def test_by_accounting_a_job_that_slurm_has_put_back_into_the_queue_goes_on(tmp_path: Path) -> None:
    said = "1|RUNNING\n2|PREEMPTED\n3|CANCELLED by 1000\n4|COMPLETED\n5|PREEMPTED\n6|NODE_FAIL\n22|PREEMPTED"
    environment = stand_in(tmp_path, "sacct", f"echo '{said}'")
    stand_in(tmp_path, "squeue", "printf '1\\n2\\n'")
    result = call(tmp_path, environment, "sacct", "-X")
    gone = "5|CANCELLED\n6|CANCELLED\n22|CANCELLED\n"
    assert result.stdout == f"1|RUNNING\n2|PREEMPTED\n3|CANCELLED\n4|COMPLETED\n{gone}"
    stand_in(tmp_path, "squeue", "echo 'slurm_load_jobs error' >&2; exit 1")
    result = call(tmp_path, environment, "sacct", "-X")
    assert "2|PREEMPTED\n" in result.stdout and "5|PREEMPTED\n" in result.stdout  # asked again later


@pytest.mark.parametrize("program", ["squeue", "sacct"])
def test_no_answer_is_an_empty_one_after_which_the_executor_still_knows_its_jobs(
    tmp_path: Path, program: str
) -> None:
    environment = stand_in(tmp_path, program, "echo '1|RUNNING'; echo 'slurm_load_jobs error' >&2; exit 1")
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stdout) == (0, "")


def test_a_lost_node_is_told_once_so_that_the_executor_excludes_it(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "squeue", "echo '6|NODE_FAIL'; echo '7|REVOKED'; echo '8|SPECIAL_EXIT'")
    (tmp_path / ".snakemake").mkdir()
    for state in ("NODE_FAIL", "CANCELLED"):
        said = call(tmp_path, environment, "squeue").stdout
        assert said == f"6|{state}\n7|CANCELLED\n8|CANCELLED\n"


def test_a_job_that_slurm_no_longer_knows_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".snakemake").mkdir()
    environment = stand_in(tmp_path, "squeue", "echo '41|RUNNING'")
    stand_in(tmp_path, "sbatch", "echo 43")
    call(tmp_path, environment, "sbatch", "--job-name", "us", "--output", "logs/a/%j.log")
    sent = tmp_path / ".snakemake" / "slurm_sent"
    before = round(time.time()) - 300
    sent.write_text(f"us 41 {before}\nus 42 {before}\nthem 44 {before}\n{sent.read_text()}")
    assert call(tmp_path, environment, "squeue", "--name", "us").stdout == "41|RUNNING\n42|UNKNOWN\n"


def test_a_job_that_slurm_took_though_its_answer_was_lost_is_not_sent_again(tmp_path: Path) -> None:
    (tmp_path / ".snakemake").mkdir()
    environment = stand_in(tmp_path, "sbatch", f"echo >> calls; echo '{PASSING[1]}' >&2; exit 1")
    log = tmp_path / "logs" / "rule_train" / "small"
    listed = queued([(40, log.parent / "other" / "40.log"), (42, log / "42.log")], head="us")
    (tmp_path / "queue").write_text(listed, encoding="utf-8")
    stand_in(tmp_path, "squeue", f"cat '{tmp_path}/queue'")
    result = call(tmp_path, environment, "sbatch", "--job-name", "us", "--output", f"{log}/%j.log")
    assert (result.returncode, result.stdout) == (0, "42\n")
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "\n"


def test_a_head_that_may_not_be_put_back_into_the_queue_is_sent_anew_as_it_was(tmp_path: Path) -> None:
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
    assert head.wait(timeout=20) != 0
    options = ["--partition=cpu", "--time=7-00:00:00", "--account=us", "--qos=long"]
    sent = (tmp_path / "sent").read_text(encoding="utf-8").splitlines()
    assert sent == [*options, "slurm/head.sbatch", ".", "--jobs", "3"]


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sshare"])
def test_what_the_executor_asks_before_a_submission_costs_no_attempt(tmp_path: Path, program: str) -> None:
    environment = stand_in(tmp_path, program, f'echo "{program} $1"')
    assert call(tmp_path, environment, program, "one  two").stdout == f"{program} one  two\n"
    stand_in(tmp_path, program, "echo 'Unable to contact slurm controller' >&2; echo partial; exit 1")
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stdout) == (0, "")
    (tmp_path / "slurm" / program).unlink()
    environment["PATH"] = f"{PROGRAMS}:{programs_but(tmp_path, SLURM_PROGRAMS)}"
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stdout) == (0, "")


def test_an_account_that_cannot_be_looked_up_is_left_to_sbatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = stand_in(tmp_path, "sacctmgr", "exit 1")
    stand_in(tmp_path, "sshare", "exit 1")
    monkeypatch.setenv("PATH", environment["PATH"])
    assert validate_account("us", logging.getLogger()) == ""
    stand_in(tmp_path, "sacctmgr", "echo us; echo them")
    assert validate_account("us", logging.getLogger()) == "us"
    with pytest.raises(WorkflowError, match="appears to be invalid"):
        validate_account("others", logging.getLogger())
