"""How far a job is, from real files that it or Snakemake left."""

from __future__ import annotations

import io
import os
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from nmt.config.jobs import Job, Stage
from nmt.io import progress
from nmt.io.progress import Progress
from nmt.monitor.job_state import FRESH, SILENCE, Folder, job_status
from nmt.monitor.status import NEEDED_NO_MORE, _seconds_left, _stage, _together

JOB = Job("corpus/0.en", "tokenize", ("data/tokens/corpus/0.en.zst",), "logs/tokenize/corpus/0.en.log")


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
        for file in job.files:
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
    left.file(JOB.log, "tokenize: 50 of 200 (25%) lines, 5/s, 0:00:10, 0:00:30 left\n", age=1)
    found = job_status(Folder(left.folder), JOB)
    assert (found.state, found.share, found.units_per_second, found.unit) == ("running", 0.25, 5.0, "lines")
    assert found.seconds_left == 30
    left.file(JOB.files[0])
    assert left.state() == "done"


def test_the_log_of_an_earlier_attempt_says_nothing_of_this_one(left: Left) -> None:
    left.attended()
    left.file(JOB.log, "nmt: error: the disk is full\n", age=500)
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
    long = Job("x", "x", ("data/" + "long/" * 60 + "file",), "logs/x.log")
    name = urlsafe_b64encode(long.files[0].encode()).decode()
    left.file(f".snakemake/incomplete/@{name[:200]}/{name[200:]}", "{}")
    assert list(Folder(left.folder).begun) == [long.files[0]]


def test_a_stage_is_not_needed_once_all_that_read_it_are_done(left: Left) -> None:
    waiting = job_status(Folder(left.folder), JOB)
    assert _together([waiting], []) == "waiting"
    assert _together([waiting], ["done", "waiting"]) == "waiting"
    assert _together([waiting], ["done", NEEDED_NO_MORE]) == NEEDED_NO_MORE


def test_time_left_of_a_stage_is_taken_from_its_finished_jobs(left: Left) -> None:
    jobs = [Job(str(i), "tokenize", (f"data/{i}",), f"logs/tokenize/{i}.log") for i in range(5)]
    for done in jobs[:2]:
        left.file(done.files[0])
        left.file(f"benchmarks/tokenize/{done.name}.tsv", "s\th:m:s\n30.0\t0:00:30\n")
    left.attended()
    for begun in jobs[2:4]:
        left.mark(begun, age=20)
        left.file(begun.log, "tokenize: 50 of 100 (50%) lines, 5/s, 0:00:10, 0:00:10 left\n")
    folder = Folder(left.folder)
    # two half done, one not begun: two jobs' time, two at a time
    assert _seconds_left(folder, jobs, [job_status(folder, job) for job in jobs]) == pytest.approx(30)
    stage = _stage(folder, Stage("tokenize", tuple(jobs)), {})
    assert (stage.state, stage.done, stage.jobs, stage.units_per_second) == ("running", 2, 5, 10)


@pytest.mark.parametrize("total", [None, 1000])
def test_what_progress_writes_can_be_read(total: int | None) -> None:
    log = io.StringIO()
    with Progress(total, "pairs", "select europarl: 3", stream=log) as shown:
        shown.update(800)
        shown._begin -= 100
    reading = progress.read(log.getvalue())
    assert reading is not None
    assert (reading.count, reading.total, reading.unit, reading.seconds) == (800, total, "pairs", 100)
    assert reading.rate == 8
    assert reading.seconds_left == (25 if total else None)
    with Progress(total, "bytes", "download a.tgz", before=500, stream=(log := io.StringIO())) as resumed:
        resumed.update(300)
        resumed._begin -= 100
    assert (reading := progress.read(log.getvalue())) is not None
    assert (reading.count, reading.before, reading.rate) == (800, 500, 3)
    assert reading.seconds_left == (pytest.approx(200 / 3) if total else None)
    assert ("0:01:07 left" in log.getvalue()) == (total is not None)
    assert progress.read("update 1,000: development NLL 3.2 nats per sentence") is None
