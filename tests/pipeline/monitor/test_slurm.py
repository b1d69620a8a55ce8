"""Durations that Slurm prints, and the time that a job has left."""

import math
import time
from pathlib import Path

import pytest

from nmt.io.system import parse_slurm_duration, seconds_until_stop, slurm_seconds_left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1-02:03:04", 93784),
        ("03:04", 184),
        ("59", 59),
        ("infinite", math.inf),
        ("UNLIMITED", math.inf),
        ("INVALID", None),
        ("", None),
    ],
)
def test_parse_slurm_duration(text: str, expected: float | None) -> None:
    assert parse_slurm_duration(text) == expected


def test_time_left_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.delenv("SLURM_JOB_END_TIME", raising=False)
    assert slurm_seconds_left() is None
    assert seconds_until_stop(60) == math.inf

    # without an end in the environment, squeue knows it
    squeue = tmp_path / "squeue"
    squeue.write_text('#!/bin/sh\n[ "$2" = --jobs=17 ] && echo 1:00:30\n', encoding="utf-8")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert slurm_seconds_left() == 3630
    monkeypatch.setenv("SLURM_JOB_ID", "18")
    assert slurm_seconds_left() is None
    assert seconds_until_stop(60) == 3300

    # work stops five minutes, or a fifth of the time, before the end
    for seconds, seconds_of_work in ((3600, 3300), (100, 80)):
        monkeypatch.setenv("SLURM_JOB_END_TIME", str(int(time.time()) + seconds))
        assert slurm_seconds_left() == pytest.approx(seconds, abs=10)
        assert seconds_until_stop(60_000) == pytest.approx(seconds_of_work, abs=10)
