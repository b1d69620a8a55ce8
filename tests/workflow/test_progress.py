"""What a run tells a person while it works."""

import io
import json
import re
from pathlib import Path

import pytest

from nmt.io import progress
from nmt.io.progress import JobProgress
from pipeline.monitor import jobs
from pipeline.monitor.jobs import Job, JobList
from tests.experiments import load_experiment
from workflow.logger.snakemake_logger_plugin_nmt import HEADING, NO_MESSAGE, RunProgress

RUNS = ("rnnencdec-50", "rnnsearch-50")


def make_job(rule: str, log: str, **wildcards: str) -> Job:
    return Job(rule, wildcards, log, is_local=False, resources={})


def make_job_list() -> JobList:
    """Two texts to prepare, then two models to train, translate and score."""
    config = load_experiment("demo")
    found = [make_job("prepare", f"logs/prepare/{part}.log") for part in ("train", "dev")]
    for run_name in RUNS:
        found.append(make_job("train", f"logs/train/{run_name}.log", run=run_name))
        log = f"logs/translate/{run_name}.all.log"
        found.append(make_job("translate", log, system=run_name, set="test", mode="all"))
        found.append(make_job("bleu", f"logs/score/{run_name}.log", system=run_name))
    return JobList(config, tuple(found))


class ObservedRun:
    """A run's progress on a clock of its own; its last line of output."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seconds, self.stream = folder, 0.0, io.StringIO()
        folder.mkdir()
        jobs.started_job_lists.append(make_job_list())
        self.run = RunProgress(self.stream, lambda: self.seconds)

    def begin(self, log: str) -> None:
        (self.folder / log).parent.mkdir(parents=True, exist_ok=True)
        self.run.start_job(log)

    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()

    def progress(self, log: str, count: int, total: int) -> None:
        """What a job at work leaves beside its log, and a look at it."""
        values = vars(JobProgress(count, total, "updates", 10.0))
        progress.progress_path(self.folder / log).write_text(json.dumps(values))
        with self.run._lock:
            self.run.refresh_line()

    def trained(self, run_name: str) -> None:
        """A training job that was at work ends."""
        (self.folder / "models" / run_name).mkdir(parents=True)
        summary = {"updates": 900, "dev_nll": 2.136}
        (self.folder / "models" / run_name / "summary.json").write_text(json.dumps(summary))
        self.run.finish_job(f"logs/train/{run_name}.log")


@pytest.fixture
def observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObservedRun:
    monkeypatch.chdir(tmp_path)
    run = ObservedRun(tmp_path / "experiment")
    monkeypatch.chdir(run.folder)
    return run


def test_stage_has_a_line_at_its_end(observed):
    observed.begin("logs/prepare/train.log")
    observed.begin("logs/prepare/dev.log")
    observed.seconds = 65
    observed.run.finish_job("logs/prepare/dev.log")
    assert observed.lines() == [HEADING]
    observed.run.finish_job("logs/prepare/train.log")
    assert re.fullmatch(r" 0:01:05 +\d+ min  prepare done", observed.lines()[-1])
    observed.run.close()


def test_training_has_a_line_at_start_and_end(observed):
    observed.begin("logs/train/rnnsearch-50.log")
    assert observed.lines()[-1].endswith("train rnnsearch-50: begins, 900 updates")
    observed.seconds = 180
    observed.trained("rnnsearch-50")
    assert observed.lines()[-1].endswith("train rnnsearch-50: done in 0:03:00, dev NLL 2.14")
    observed.run.close()


def test_running_jobs_have_a_line_each_minute(observed):
    train, prepare = "logs/train/rnnsearch-50.log", "logs/prepare/dev.log"
    observed.begin(train)
    observed.begin(prepare)
    begun = len(observed.lines())
    for observed.seconds in range(5, 200, 5):
        observed.progress(train, 20, 1000)
    lines = observed.lines()[begun:]
    assert [line.split()[0] for line in lines] == ["0:01:00", "0:02:00", "0:03:00"]
    assert {line.split("  ")[-1] for line in lines} == {"train rnnsearch-50 2%, prepare dev"}
    observed.run.close()


def test_time_left(observed):
    for part in ("train", "dev"):
        observed.begin(f"logs/prepare/{part}.log")
    observed.seconds = 600
    observed.run.finish_job("logs/prepare/train.log")
    observed.run.finish_job("logs/prepare/dev.log")
    # 900 updates at 40,000 and 1,400 at 100,000 per hour, four jobs of ten minutes, two at a time
    assert observed.run._estimate_hours_left() == pytest.approx((900 / 40_000 + 1400 / 100_000 + 4 / 6) / 2)
    observed.begin("logs/train/rnnsearch-50.log")
    observed.seconds = 10_000
    observed.trained("rnnsearch-50")
    # how long a training job took says nothing of the others
    assert observed.run._estimate_hours_left() == pytest.approx((1400 / 100_000 + 4 / 6) / 2)
    observed.run.close()


@pytest.mark.parametrize(
    ("text", "shown", "explained"),
    [
        ("nmt: a word\nerror: disk full\n", ["error: disk full"], True),
        ("update 7\nnmt: A: stopped after update 7\n", ["nmt: A: stopped after update 7"], False),
        ("\n".join(map(str, range(30))), [*map(str, range(20, 30))], False),
        (None, [NO_MESSAGE], False),
    ],
)
def test_failure_shows_the_log(observed, text, shown, explained):
    log = "logs/train/rnnsearch-50.log"
    observed.begin(log)
    if text is not None:
        (observed.folder / log).write_text(text)
    assert observed.run.report_failure(log) is explained
    lines = observed.lines()[2:]
    named_log = [] if text is None else [f"log: experiment/{log}"]
    assert lines == ["", "FAILED: train rnnsearch-50", *shown, *named_log, ""]
    assert observed.run.report_failure(log)  # Snakemake names it again at its end
    assert observed.lines()[2:] == lines
    observed.run.close()


def test_failure_before_the_first_line_shows_the_log_of_slurm(observed):
    log, slurm_log = "logs/train/rnnsearch-50.log", observed.folder / "18.log"
    observed.begin(log)
    lines = ["Building DAG of jobs...", "srun: error: Invalid generic resource", "Exiting"]
    slurm_log.write_text("\n".join(lines))
    observed.run.report_failure(log, slurm_logs=[str(slurm_log)])
    assert observed.lines()[-3:] == ["srun: error: Invalid generic resource", "log: experiment/18.log", ""]
    observed.run.close()


def test_earlier_attempt_is_not_shown(observed):
    log = "logs/train/rnnsearch-50.log"
    observed.begin(log)
    observed.progress(log, 900, 900)
    (observed.folder / log).write_text("update 900: done\n")
    observed.run.finish_job("logs/train/rnnencdec-50.log")
    observed.run.report_failure(log, "Slurm's job 18 was cancelled", "2 of 20")
    assert observed.lines()[-4:-1] == [
        "Slurm's job 18 was cancelled",
        f"log: experiment/{log}",
        "It is submitted again: attempt 2 of 20",
    ]

    # submitted again, it waits; its files are those of the first attempt
    observed.run.start_job(log, is_submitted=True)
    observed.seconds += 100
    observed.run.refresh_line()
    assert observed.lines()[-1].endswith("waiting in the queue: train rnnsearch-50")
    observed.run.report_failure(log, "Slurm refuses it: too large")
    assert observed.lines()[-3:] == ["FAILED: train rnnsearch-50", "Slurm refuses it: too large", ""]
    observed.run.close()
