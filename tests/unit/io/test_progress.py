"""Progress of a job lies beside its log, as JSON, and outside of the workflow nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.io import progress
from nmt.io.progress import Progress


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "a b.log"
    monkeypatch.setenv(progress.LOG_VARIABLE, f"'{path}'")  # as the shell line quotes it
    return path


@pytest.mark.parametrize("total", [None, 1000])
def test_what_is_written_is_read(log: Path, total: int | None) -> None:
    with Progress(total, "pairs", "select europarl: 3") as shown:
        first = progress.read_progress(progress.progress_path(log))
        assert first is not None and (first.count, first.total) == (0, total)
        shown.update(800)
        shown._start_time -= 10_000
    reading = progress.read_progress(progress.progress_path(log))
    assert reading is not None
    assert (reading.count, reading.total, reading.unit) == (800, total, "pairs")
    assert reading.rate == pytest.approx(0.08, rel=0.01)
    assert reading.seconds_left == (pytest.approx(2500, rel=0.01) if total else None)


def test_a_log_has_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(10, "lines", "clean") as shown:
        shown.update()
        assert not capsys.readouterr().err
        shown._report_time -= progress.LOG_SECONDS
        shown.update()
        assert capsys.readouterr().err.startswith("clean: 2 of 10")


def test_units_of_an_earlier_attempt_are_no_rate(log: Path) -> None:
    with Progress(1000, "bytes", "download", before=500) as resumed:
        resumed.update(300)
        resumed._start_time -= 10_000
    reading = progress.read_progress(progress.progress_path(log))
    assert reading is not None
    assert (reading.count, reading.before) == (800, 500)
    assert reading.seconds_left == pytest.approx(20_000 / 3, rel=0.01)


def test_an_error_is_kept_with_the_progress_until_the_next_attempt(log: Path) -> None:
    progress.write_progress(progress.JobProgress(7, 10, "lines", 1.0))
    progress.record_failure("the disk is full")
    reading = progress.read_progress(progress.progress_path(log))
    assert reading == progress.JobProgress(7, 10, "lines", 1.0, error="the disk is full")
    progress.clear_progress()
    assert progress.read_progress(progress.progress_path(log)) is None


@pytest.mark.parametrize("value", ["", "nowhere/x.log", "x", "two words.log"])
def test_nothing_is_written_outside_of_a_job(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(progress.LOG_VARIABLE, value)
    progress.record_failure("something")
    assert list(tmp_path.iterdir()) == []
