"""Stages of an experiment from the states of their jobs: real files that jobs or Snakemake left."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from nmt.io.locks import hold
from pipeline.config.overlays import find_layers, load
from pipeline.monitor.forecast import training_times
from pipeline.monitor.job_state import Folder
from pipeline.monitor.jobs import Job, JobList
from pipeline.monitor.status import job_states, look, shown
from tests.running import ROOT


def a_job(name: str, inputs: str = "", run: str | None = None, stage: str = "tokenize") -> Job:
    wildcards = {"model": run, "mode": "all"} if run else {}
    files = tuple(inputs.split()), (f"data/{name}",)
    return Job(stage, wildcards, *files, f"logs/{stage}/{name}.log", True, False, {})


class Experiment:
    """A folder with files, and a list of its jobs."""

    def __init__(self, folder: Path, *jobs: Job, of: Path = ROOT) -> None:
        self.folder = folder
        self.listed = JobList(load(find_layers(ROOT / "config.yaml", of)), jobs)

    def file(self, name: str, text: str = "") -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def begun(self, job: Job) -> None:
        for file in job.outputs:
            self.file(f".snakemake/incomplete/{urlsafe_b64encode(file.encode()).decode()}", "{}")
        self.file(".snakemake/locks/0.output.lock", "data\n")
        self.file(job.log)

    def states(self) -> list[str]:
        found = job_states(Folder(self.folder), self.listed)
        return [found[job.log].state for job in self.listed.jobs]


def test_a_job_is_not_needed_once_all_that_read_it_are_done(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path, a_job("raw"), a_job("a", "data/raw"), a_job("b", "data/raw data/a"))
    assert experiment.states() == ["waiting"] * 3
    experiment.file("data/a")
    assert experiment.states() == ["waiting", "done", "waiting"]
    experiment.file("data/b")
    assert experiment.states() == ["not needed", "done", "done"]
    (tmp_path / "data" / "a").unlink()
    assert experiment.states() == ["not needed", "not needed", "done"]
    assert look(experiment.listed, tmp_path).stages[0].state == "not needed"


def test_time_left_of_a_stage_is_taken_from_its_finished_jobs(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path, *(a_job(str(number)) for number in range(5)))
    jobs = experiment.listed.jobs
    for done in jobs[:2]:
        experiment.file(done.outputs[0])
        experiment.file(f"benchmarks/tokenize/{done.name}.tsv", "s\th:m:s\n30.0\t0:00:30\n")
    for begun in jobs[2:4]:
        experiment.begun(begun)
        progress = '{"count": 50, "total": 100, "unit": "lines", "seconds": 10.0}'
        experiment.file(f"logs/tokenize/{begun.name}.progress.json", progress)
    status = look(experiment.listed, tmp_path)
    (stage,) = status.stages
    assert (stage.state, stage.done, stage.jobs, stage.units_per_second) == ("running", 2, 5, 10)
    # two half done, one not begun: two jobs' time, two at a time
    assert stage.seconds_left == pytest.approx(30)
    lines = [" ".join(line.split()) for line in shown(status).splitlines()]
    assert "tokenize running 2 of 5 10 lines/s 0:00:30" in lines
    assert lines[-2:] == [f"tokenize {number}: running: 50%, 5 lines/s, 0:00:10 left" for number in (2, 3)]


def test_every_stage_and_every_score_is_shown_without_an_entry_anywhere(tmp_path: Path) -> None:
    jobs = (
        a_job("m.all", run="rnnsearch-30", stage="paraphrase"),
        a_job("dedup", stage="deduplicate"),
        a_job("x", "data/dedup", stage="tokenize"),
        a_job("scores.json", run="rnnsearch-30", stage="score"),
        a_job("lacking.json", run="rnnsearch-50", stage="score"),
    )
    experiment = Experiment(tmp_path, *jobs)
    experiment.file("data/scores.json", '{"bleu_all": 12.345, "bleu_no_unk": null}')
    status = look(experiment.listed, tmp_path)
    assert {stage.stage for stage in status.stages} == {"paraphrase", "deduplicate", "tokenize", "score"}
    assert status.scores == {"RNNsearch-30": {"bleu_all": 12.345}}
    text = shown(status)
    assert "deduplicate  waiting" in text and "RNNsearch-30" in text and "12.35" in text
    assert json.loads(status.as_json())["stages"][0]["state"] == "waiting"


def test_a_run_of_some_epochs_ends_with_them_not_at_the_updates_that_would_be_too_many(
    tmp_path: Path,
) -> None:
    train = Job(
        "train",
        {"model": "lstm-forward"},
        (),
        ("models/lstm-forward/model.safetensors",),
        "logs/train/lstm-forward.log",
        True,
        False,
        {},
    )
    experiment = Experiment(tmp_path, train, of=ROOT / "experiments" / "sutskever2014")
    (waiting,) = look(experiment.listed, tmp_path).models
    assert waiting.updates == 720_000
    # 12 million pairs: 93,750 updates an epoch
    experiment.file(
        "logs/train/lstm-forward.progress.json",
        '{"count": 300, "total": 703125, "unit": "updates", "seconds": 30.0}',
    )
    with hold(tmp_path / "state" / "lstm-forward", "refuse"):
        (begun,) = look(experiment.listed, tmp_path).models
        assert (begun.state, begun.reached.update, begun.updates) == ("running", 0, 720_000)
        line = {"update": 200, "epoch": 200 / 93_750, "train_nll": 1.0, "seconds": 20.0}
        experiment.file("state/lstm-forward/history.jsonl", json.dumps(line) + "\n")
        status = look(experiment.listed, tmp_path)
    (running,) = status.models
    assert "300 of 703,125 (0%)" in shown(status) and "Left to train: " in shown(status)
    assert (running.reached.update, running.updates) == (300, 703_125)
    assert running.seconds_left == pytest.approx((703_125 - 300) / 10)
    (left,) = training_times(experiment.listed.config, tmp_path, ["lstm-forward"])
    assert left.updates == 703_125 - 200
