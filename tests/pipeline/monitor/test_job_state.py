"""How far a job is, from real files that it or Snakemake left."""

from __future__ import annotations

import os
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from pipeline.monitor.job_state import FRESH, SILENCE, Folder, job_status
from pipeline.monitor.jobs import Job


def a_job(name: str) -> Job:
    return Job("tokenize", {}, (), (f"data/tokens/{name}.zst",), f"logs/tokenize/{name}.log", True, False, {})


JOB = a_job("corpus/0.en")
PROGRESS = "logs/tokenize/corpus/0.en.progress.json"


class Left:
    """What a job and Snakemake leave in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, text: str = "", age: float = 0.0) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (time.time() - age, time.time() - age))

    def mark(self, job: Job, age: float) -> None:
        for file in job.outputs:
            self.file(f".snakemake/incomplete/{urlsafe_b64encode(file.encode()).decode()}", "{}", age)

    def attended(self) -> None:
        self.file(".snakemake/locks/0.output.lock", "data\n")

    def state(self) -> str:
        return job_status(Folder(self.folder), JOB).state


@pytest.fixture
def left(tmp_path: Path) -> Left:
    return Left(tmp_path)


def test_from_waiting_to_done(left: Left) -> None:
    assert left.state() == "waiting"
    left.attended()
    left.mark(JOB, age=30)
    assert left.state() == "submitted"
    left.file(JOB.log, "whatever a person may read\n", age=1)
    left.file(PROGRESS, '{"count": 50, "total": 200, "unit": "lines", "seconds": 10.0}', age=1)
    found = job_status(Folder(left.folder), JOB)
    assert (found.state, found.share, found.units_per_second, found.unit) == ("running", 0.25, 5.0, "lines")
    assert found.seconds_left == 30
    left.file(JOB.outputs[0])
    assert left.state() == "done"


def test_the_error_of_an_earlier_attempt_says_nothing_of_this_one(left: Left) -> None:
    left.attended()
    left.file(PROGRESS, '{"error": "the disk is full"}', age=500)
    assert left.state() == "failed"
    left.mark(JOB, age=100)
    assert left.state() == "submitted"


@pytest.mark.parametrize(
    ("attended", "age", "state"),
    [
        (True, FRESH + 10, "running"),
        (True, SILENCE + 10, "silent"),
        (False, 5, "running"),
        (False, FRESH + 10, "stopped"),
    ],
)
def test_silence(left: Left, attended: bool, age: float, state: str) -> None:
    if attended:
        left.attended()
    left.mark(JOB, age=2 * SILENCE)
    left.file(JOB.log, "reads\n", age)
    assert left.state() == state


def test_a_half_written_file_is_a_sign_of_life(left: Left) -> None:
    left.mark(JOB, age=2 * SILENCE)
    left.file(JOB.log, "reads\n", age=2 * SILENCE - 1)
    assert left.state() == "stopped"
    left.file("data/tokens/corpus/.0.en.zst.12-abcd.part.zst", "half", age=1)
    assert left.state() == "running"


def test_marks_of_long_paths_are_read(left: Left) -> None:
    long = a_job("long/" * 60 + "file")
    name = urlsafe_b64encode(long.outputs[0].encode()).decode()
    left.file(f".snakemake/incomplete/@{name[:200]}/{name[200:]}", "{}")
    assert list(Folder(left.folder).begun) == [long.outputs[0]]


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"count": 1, "else": 2}'])
def test_progress_that_cannot_be_read_is_none(left: Left, text: str) -> None:
    left.attended()
    left.mark(JOB, age=30)
    left.file(PROGRESS, text, age=1)
    found = job_status(Folder(left.folder), JOB)
    assert (found.state, found.share) == ("running", None)
