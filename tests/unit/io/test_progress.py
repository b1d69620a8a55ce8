"""The progress of a job is a JSON file beside its log; outside of the workflow there is none."""

from pathlib import Path

import pytest

from nmt.io import progress
from nmt.io.progress import JobProgress, Progress


@pytest.fixture
def progress_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log = tmp_path / "a b.log"
    monkeypatch.setenv(progress.LOG_VARIABLE, f"'{log}'")  # as the shell line quotes it
    return progress.progress_path(log)


def test_progress_file(progress_file):
    """Units of an earlier attempt are counted, but the rate is that of this attempt."""
    with Progress(1000, "bytes", "download", initial_count=500) as bar:
        start = progress.read_progress(progress_file)
        assert (start.count, start.total) == (500, 1000)
        bar.update(300)
        bar._start_time -= 10_000
    end = progress.read_progress(progress_file)
    assert (end.count, end.initial_count, end.total, end.unit) == (800, 500, 1000, "bytes")
    assert end.rate == pytest.approx(0.03, rel=0.01)


def test_log_line(capsys):
    with Progress(10, "lines", "clean") as bar:
        bar.update()
        assert not capsys.readouterr().err
        bar._report_time -= progress.LOG_SECONDS
        bar.update()
        assert " 2/10 " in capsys.readouterr().err


def test_failure_is_kept_until_next_attempt(progress_file):
    progress.write_progress(JobProgress(7, 10, "lines", 1.0))
    progress.record_failure("the disk is full")
    failure = JobProgress(7, 10, "lines", 1.0, error="the disk is full")
    assert progress.read_progress(progress_file) == failure
    progress.clear_progress()
    assert progress.read_progress(progress_file) is None


@pytest.mark.parametrize("value", ["", "nowhere/x.log", "x", "two words.log"])
def test_nothing_is_written_outside_of_jobs(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(progress.LOG_VARIABLE, value)
    progress.record_failure("something")
    assert not [*tmp_path.iterdir()]
