"""What stands before Slurm's own programs: submissions that wait, states that the executor understands."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.running import ROOT, SLURM_PROGRAMS, programs_but
from workflow.cluster import PROGRAMS, put_wrappers_first
from workflow.records import take_run_lock

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


class FakeSlurm:
    """Slurm's programs as scripts in a folder, behind the project's own programs. The queue is empty by default."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "slurm").mkdir()
        path = os.pathsep.join([str(PROGRAMS), str(folder / "slurm"), os.environ["PATH"]])
        self.environment = os.environ | {"PATH": path, "NMT_SBATCH_PAUSE": "0"}
        self.add("squeue", "exit 0")

    def add(self, name: str, script: str) -> None:
        program = self.folder / "slurm" / name
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture
def slurm(tmp_path: Path) -> FakeSlurm:
    return FakeSlurm(tmp_path)


@pytest.mark.parametrize("complaint", PASSING)
def test_submission_waits_for_passing_errors(slurm, tmp_path, complaint):
    (tmp_path / "logs").mkdir()
    (tmp_path / "complaint").write_text(complaint, encoding="utf-8")
    slurm.add(
        "sbatch",
        'echo "$@" >> calls; [ $(wc -l < calls) = 3 ] && echo 42 && exit 0; cat complaint >&2; exit 1',
    )
    result = slurm.call("sbatch", "--wrap", "a  'b' \"c\"")
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n", "")
    options = "--requeue --wrap a  'b' \"c\""  # back into the queue after a preemption or the loss of a node
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines() == [options] * 3
    assert (tmp_path / "logs" / "sbatch.log").read_text(encoding="utf-8").count(complaint) == 2


@pytest.mark.parametrize("number", ["4242001", "4242001;north"])
def test_submission_answers_the_job_number_alone(slurm, tmp_path, number):
    (tmp_path / ".snakemake").mkdir()
    slurm.add("sbatch", f"printf 'A node has 128 CPU cores.\\n512\\n%s\\nCharged: 64\\n' '{number}'")
    assert slurm.call("sbatch", "--job-name", "run1", "job.sh").stdout == f"{number}\n"
    assert (tmp_path / ".snakemake" / "slurm_sent").read_text(encoding="utf-8").startswith("run1 4242001 ")


@pytest.mark.parametrize("complaint", FOR_GOOD)
def test_permanent_error_fails_immediately(slurm, tmp_path, complaint):
    (tmp_path / "complaint").write_text(complaint, encoding="utf-8")
    slurm.add("sbatch", "echo once >> calls; cat complaint >&2; exit 3")
    result = slurm.call("sbatch", "job.sh")
    assert (result.returncode, result.stdout, result.stderr) == (3, "", complaint + "\n")
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "once\n"


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


SENDER = """\
import os, time
from workflow.cluster import put_wrappers_first
put_wrappers_first()
print(os.environ["NMT_SENDER"], flush=True)
time.sleep(60)
"""


def test_waiting_submission_ends_with_snakemake(slurm, tmp_path):
    slurm.add("sbatch", f"echo once >> calls; echo '{PASSING[0]}' >&2; exit 1")
    log = tmp_path / "sender.log"
    with log.open("wb") as file:
        command = [sys.executable, "-c", SENDER]
        sender = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=file, text=True)
    assert sender.stdout is not None
    slurm.environment |= {"NMT_SENDER": sender.stdout.readline().strip(), "NMT_SBATCH_PAUSE": "1"}
    process = subprocess.Popen(["sbatch", "--comment", RUN, "job.sh"], cwd=tmp_path, env=slurm.environment)
    wait_for(lambda: log.stat().st_size > 0)
    wait_for(lambda: (tmp_path / "calls").read_text().count("once") >= 3)  # after the second refusal
    assert process.poll() is None
    sender.kill()
    sender.wait()
    assert process.wait(timeout=120) == 1
    expected = f"{RUN}: not taken yet, tried again until it is: {PASSING[0]}\n"
    assert log.read_text(encoding="utf-8") == expected


LOGS = Path("logs with space", "rule_train")


def test_wrappers_come_first_on_the_path(monkeypatch):
    for name in ("PATH", "NMT_SENDER", "NMT_GPUS", "SQUEUE_ALL"):
        monkeypatch.setenv(name, "1")
    put_wrappers_first()
    assert os.environ["PATH"] == f"{PROGRAMS}:1"
    assert Path(os.environ["NMT_SENDER"]).exists()
    assert "NMT_GPUS" not in os.environ  # a pool of this machine


def test_job_depends_on_same_work_elsewhere(slurm, tmp_path):
    logs = tmp_path / LOGS
    slurm.add("sbatch", 'echo "$@"')
    jobs = [(1, "them", logs / "small" / "1.log"), (22, "them", logs / "small" / "%j.log")]
    jobs += [(3, "them", logs / "smaller" / "3.log"), (4, "us", logs / "small" / "%j.log")]
    lines = [f"{number:<20}{name:<20}{log!s:<200}\n" for number, name, log in jobs]
    (tmp_path / "queue").write_text("".join(lines), encoding="utf-8")
    slurm.add("squeue", f"cat '{tmp_path}/queue'")
    command = ["sbatch", "--job-name", "us", "--output", f"{logs}/small/%j.log", "--nice=7"]
    options = slurm.call(*command).stdout.partition("--job-name")[0].split()
    assert options == ["--requeue", "--dependency=afterany:1:22"]


def test_states_are_known_to_the_executor(slurm):
    states = (
        "1|RUNNING\n2|PREEMPTED\n3|CANCELLED by 1000\n4|COMPLETED\n5|NODE_FAIL\n6|REVOKED\n7|SPECIAL_EXIT"
    )
    slurm.add("squeue", f"echo '{states}'")
    lost = "6|CANCELLED\n7|CANCELLED\n"
    answer = slurm.call("squeue", "--format=%i|%T", "--name", "us").stdout
    assert answer == f"1|RUNNING\n2|CANCELLED\n3|CANCELLED\n4|COMPLETED\n5|NODE_FAIL\n{lost}"


def test_requeued_job_counts_as_running(slurm):
    query = ("sacct", "-X", "--name", "us")
    slurm.add("sacct", "echo '1|RUNNING\n2|PREEMPTED\n5|PREEMPTED\n6|NODE_FAIL\n22|PREEMPTED'")
    slurm.add("squeue", "printf '1\\n2\\n6\\n'")
    lines = ["1|RUNNING", "22|CANCELLED", "2|RUNNING", "5|CANCELLED", "6|RUNNING"]
    assert sorted(slurm.call(*query).stdout.splitlines()) == lines
    slurm.add("squeue", "echo 'slurm_load_jobs error' >&2; exit 1")
    assert slurm.call(*query).stdout == ""  # asked again later


def test_forgotten_job_is_unknown(slurm, tmp_path):
    (tmp_path / ".snakemake").mkdir()
    slurm.add("squeue", "echo '41|RUNNING'")
    slurm.add("sbatch", "echo 43")
    slurm.call("sbatch", "--job-name", "us", "--output", "logs/a/%j.log")
    submissions = tmp_path / ".snakemake" / "slurm_sent"
    before = round(time.time()) - 300
    submissions.write_text(f"us 41 {before}\nus 42 {before}\nthem 44 {before}\n{submissions.read_text()}")
    assert slurm.call("squeue", "--name", "us").stdout == "41|RUNNING\n42|UNKNOWN\n"


@pytest.mark.parametrize(
    "first_query", ["", "[ ! -e comments ] || [ -e asked ] || { touch asked; exit 1; }\n"]
)
def test_accepted_job_is_not_submitted_twice(slurm, tmp_path, first_query):
    (tmp_path / ".snakemake").mkdir()
    slurm.add("sbatch", f'echo "$7" >> comments; echo "{PASSING[1]}" >&2; exit 1')
    slurm.add("squeue", first_query + "echo '40 another'; [ ! -e comments ] || echo \"42 $(cat comments)\"")
    result = slurm.call("sbatch", "--job-name", "us", "--output", "logs/%j.log", "--comment", RUN)
    assert (result.returncode, result.stdout) == (0, "42\n")
    (comment,) = (tmp_path / "comments").read_text(encoding="utf-8").splitlines()
    assert comment.split()[0] == RUN


def test_head_waits_for_an_earlier_one_and_is_resubmitted_with_its_options(slurm, tmp_path):
    slurm.add("sbatch", 'printf "%s\\n" "$@" > sent')
    slurm.add("scontrol", "exit 1")
    slurm.add("squeue", 'case "$*" in *%l*) echo 7-00:00:00 ;; esac')
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "run.py").write_text(
        "import pathlib, time\nfrom workflow.records import take_run_lock\n"
        "if take_run_lock() is not None:\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n",
        encoding="utf-8",
    )
    earlier_lock = take_run_lock(tmp_path)
    assert earlier_lock is not None
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    slurm.environment |= {
        "SLURM_JOB_ID": "9",
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "SLURM_JOB_PARTITION": "cpu",
    }
    slurm.environment |= {"SLURM_JOB_ACCOUNT": "us", "SLURM_JOB_QOS": "long", "PYTHONPATH": str(ROOT)}
    command = ["bash", str(PROGRAMS.parent / "head.sbatch"), ".", "--jobs", "3"]
    head = subprocess.Popen(command, env=slurm.environment, start_new_session=True)
    time.sleep(3)  # a head that did not wait would begin now, and end since it cannot take the lock
    os.close(earlier_lock)
    wait_for((tmp_path / "begun").exists)
    head.send_signal(signal.SIGUSR1)
    assert head.wait(timeout=120) != 0
    options = ["--partition=cpu", "--time=7-00:00:00", "--account=us", "--qos=long"]
    sent_options = (tmp_path / "sent").read_text(encoding="utf-8").splitlines()
    assert sent_options == ["--requeue", *options, "slurm/head.sbatch", ".", "--jobs", "3"]


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sshare"])
def test_failed_query_before_submission_is_empty(slurm, tmp_path, program):
    slurm.add(program, f'echo "{program} $1"')
    assert slurm.call(program, "one  two").stdout == f"{program} one  two\n"
    slurm.add(program, "echo 'Unable to contact slurm controller' >&2; echo partial; exit 1")
    result = slurm.call(program)
    assert (result.returncode, result.stdout) == (0, "")
    (tmp_path / "slurm" / program).unlink()
    slurm.environment["PATH"] = f"{PROGRAMS}:{programs_but(tmp_path, SLURM_PROGRAMS)}"
    result = slurm.call(program)
    assert (result.returncode, result.stdout) == (0, "")
