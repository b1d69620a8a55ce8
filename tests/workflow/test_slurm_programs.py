"""What stands before Slurm's own programs: submissions that wait, states that the executor understands."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from workflow.cluster import PROGRAMS

PASSING = [
    "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
    "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    "sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy",
    "sbatch: error: Batch job submission failed: Required partition not available (inactive or drain)",
]
FOR_GOOD = [
    "sbatch: error: invalid partition specified: gpus\n"
    "sbatch: error: Batch job submission failed: Invalid partition name specified",
    "sbatch: error: Batch job submission failed: Requested node configuration is not available",
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
]


def stand_in(folder: Path, name: str, script: str) -> dict[str, str]:
    """An environment in which Slurm's program is a script, behind the project's own."""
    program = folder / "slurm" / name
    program.parent.mkdir()
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


def test_a_wait_ends_with_the_head(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "sbatch", f"echo '{PASSING[0]}' >&2; exit 1")
    process = subprocess.Popen(["sbatch"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    time.sleep(0.5)
    assert process.poll() is None
    process.terminate()
    assert process.wait(timeout=10) != 0


def test_states_are_those_that_the_executor_knows(tmp_path: Path) -> None:
    said = "1|RUNNING\n2|PREEMPTED\n3|CANCELLED by 1000\n4|COMPLETED"
    environment = stand_in(tmp_path, "squeue", f"echo '{said}'")
    result = call(tmp_path, environment, "squeue", "--format=%i|%T")
    assert result.stdout == "1|RUNNING\n2|CANCELLED\n3|CANCELLED by 1000\n4|COMPLETED\n"
    (tmp_path / "slurm" / "squeue").rename(tmp_path / "slurm" / "sacct")
    result = call(tmp_path, environment, "sacct", "-X")
    assert result.stdout == "1|RUNNING\n2|PREEMPTED\n3|CANCELLED\n4|COMPLETED\n"


@pytest.mark.parametrize("program", ["squeue", "sacct"])
def test_a_question_that_is_not_answered_fails(tmp_path: Path, program: str) -> None:
    environment = stand_in(tmp_path, program, "echo 'slurm_load_jobs error' >&2; exit 1")
    result = call(tmp_path, environment, program)
    assert (result.returncode, result.stderr) == (1, "slurm_load_jobs error\n")
