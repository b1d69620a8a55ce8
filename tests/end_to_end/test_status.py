"""`nmt status` beside a training that runs, after one that was killed, and after the end; on damaged files too.

The training is a real process in an experiment's folder, as Snakemake starts it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nmt.io.job_progress import LOG
from pipeline.config.overlays import find_layers, load
from pipeline.config.runs import run_settings, runs_of
from pipeline.config.schema import Config
from pipeline.monitor.jobs import FILE, Job, JobList, list_jobs
from tests.bitexts import write_bitext
from tests.running import ROOT, TINY, run

RUN = "rnnsearch-30"
OVERLAY = (
    TINY
    + """
use: {models: [rnnencdec-30, rnnsearch-30]}
artifacts: {figure2_models: [rnnsearch-30], figure3_model: rnnsearch-30, table3_models: [rnnsearch-30]}
"""
)


class Experiment:
    """A folder with settings and a text to train on."""

    jobs: ClassVar[tuple[Job, ...]] = ()
    """What Snakemake lists for the first; the settings of these tests change no file's name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.overlay = folder, folder / "tiny.yaml"
        folder.mkdir(exist_ok=True)
        shutil.copy(ROOT / "experiments" / "demo" / "config.yaml", folder)
        pairs = [([2 + i % 28, 3 + i % 27], [2 + (i + 1) % 28, 5]) for i in range(40)]
        (folder / "text").mkdir(exist_ok=True)
        write_bitext(folder / "text", pairs)
        self.updates(10)

    def updates(self, number: int) -> None:
        old = "rnnsearch-30: {training: {updates: 10}}"
        assert old in OVERLAY
        new = OVERLAY.replace(old, old.replace("10}", f"{number}}}"))
        self.overlay.write_text(new, encoding="utf-8")
        self.started()

    @property
    def config(self) -> Config:
        return load(find_layers(ROOT / "config.yaml", self.folder, [self.overlay]))

    def started(self) -> None:
        """The list of jobs that a run with these settings would begin with."""
        if not Experiment.jobs:
            Experiment.jobs = list_jobs(self.folder, [self.overlay]).jobs
        JobList(self.config, Experiment.jobs).write(self.folder / FILE)

    def train(self, *options: str) -> subprocess.Popen[bytes]:
        settings = run_settings(self.config, runs_of(self.config, [RUN])[RUN]).model_dump_json()
        command = [sys.executable, "-m", "nmt", "train", "--settings", settings]
        command += ["--train", "text/bitext", "--dev", "text/bitext"]
        command += ["--source-vocabulary", "text/source.tsv", "--target-vocabulary", "text/target.tsv"]
        command += ["--state", f"state/{RUN}", "--output", f"models/{RUN}", *options]
        environment = os.environ | {"PYTHONPATH": str(ROOT), LOG: f"logs/train/{RUN}.log"}
        (self.folder / "logs" / "train").mkdir(parents=True, exist_ok=True)
        with (self.folder / "logs" / "train" / f"{RUN}.log").open("wb") as log:
            return subprocess.Popen(command, cwd=self.folder, env=environment, stderr=log)

    def status(self) -> dict[str, Any]:
        """What `nmt status --json` says in a process of its own."""
        said = self.nmt_status("--json")
        values: dict[str, Any] = json.loads(said)
        return values

    def nmt_status(self, *options: str) -> str:
        command = [sys.executable, "-m", "nmt", "status", str(self.folder)]
        result = run([*command, *options])
        assert result.returncode == 0, result.stdout
        assert "Traceback" not in result.stdout
        return result.stdout

    def model(self) -> dict[str, Any]:
        (model,) = [model for model in self.status()["models"] if model["run"] == RUN]
        return dict(model)

    def model_once(self, moment: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """What status says of the run as soon as `moment` holds for it."""
        deadline = time.monotonic() + 60
        while not moment(model := self.model()):
            assert time.monotonic() < deadline, model
            time.sleep(0.3)
        return model


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    return Experiment(tmp_path / "experiment")


@pytest.fixture
def running(experiment: Experiment) -> Iterator[subprocess.Popen[bytes]]:
    """A training without end in the experiment."""
    experiment.updates(1_000_000)
    process = experiment.train()
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """A training that came to its end."""
    experiment = Experiment(tmp_path_factory.mktemp("finished"))
    assert experiment.train().wait(timeout=90) == 0
    return experiment


def test_a_training_that_runs_and_then_is_killed(
    experiment: Experiment, running: subprocess.Popen[bytes]
) -> None:
    model = experiment.model_once(lambda model: model["checkpoint"] is not None and bool(model["dev"]))
    assert model["state"] == "running"
    assert model["writer"]["process"] == running.pid
    assert 0 < model["update"] < model["updates"] == 1_000_000
    left = (1_000_000 - model["update"]) / model["updates_per_second"]
    assert model["seconds_left"] == pytest.approx(left)
    assert model["dev"]["update"] <= model["update"] and model["dev"]["nll"] > 0
    assert model["best"]["nll"] <= model["dev"]["nll"]
    assert "RNNsearch-30" in experiment.nmt_status()
    left = experiment.status()["training_left"]
    assert left["guessed"] == ["rnnencdec-30"]  # no run of its kind has been measured
    assert left["hours"] > left["side_by_side"] > 0

    running.send_signal(signal.SIGSTOP)  # its last word may be half-written
    running.kill()
    running.wait()
    model = experiment.model()
    assert model["state"] == "stopped"
    assert model["writer"] is None
    assert model["note"] == f"resumes after update {model['checkpoint']:,}"
    assert model["update"] >= model["checkpoint"] > 0


def test_a_training_on_another_node(experiment: Experiment) -> None:
    state = experiment.folder / "state" / RUN
    state.mkdir(parents=True)
    lock = state / "lock"
    lock.write_text(f"{lock}|node7.cluster|4321|99\n", encoding="utf-8")
    os.utime(lock, (time.time(), time.time() + 55))  # flufl's lock: valid until its time of change
    model = experiment.model()
    assert (model["state"], model["note"]) == ("running", "process 4321 on node7.cluster")
    os.utime(lock, (time.time(), time.time() - 90))
    model = experiment.model()
    assert model["state"] == "silent"
    assert model["note"].startswith("process 4321 on node7.cluster not heard of for 0:02:3")


def test_a_training_that_waits_fails_or_is_submitted(experiment: Experiment) -> None:
    assert experiment.model()["state"] == "waiting"
    process = experiment.train("--dev", "text")  # which is no bitext
    assert process.wait(timeout=60) == 2
    model = experiment.model()
    assert model["state"] == "failed"
    assert model["note"].startswith("text: no bitext")


def test_a_finished_training_and_one_whose_settings_have_changed(finished: Experiment) -> None:
    model = finished.model()
    assert (model["state"], model["update"], model["seconds_left"]) == ("done", 10, None)
    assert model["dev"]["update"] == 10
    finished.updates(20)
    model = finished.model()
    finished.updates(10)
    assert model["state"] == "outdated"
    assert model["note"] == "training.updates was 10 and is now 20"


def test_nothing_is_written_or_locked(finished: Experiment) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        files = [path for path in finished.folder.rglob("*")]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = seen()
    finished.nmt_status()
    assert seen() == before


@pytest.mark.parametrize(
    "damage", [b"", b"\x00\xff{", b'{"update": 7, "seco', b"[1, 2]\n", b'{"update": "x"}\n']
)
def test_damaged_files_break_nothing(finished: Experiment, tmp_path: Path, damage: bytes) -> None:
    copy = Experiment(tmp_path / "copy")
    shutil.copytree(finished.folder, copy.folder, dirs_exist_ok=True)
    whole = copy.model()
    history = copy.folder / "models" / RUN / "history.jsonl"
    with history.open("ab") as file:
        file.write(damage)
    assert copy.model() == whole
    for file in ("history.jsonl", "summary.json", "settings.json"):
        (copy.folder / "models" / RUN / file).write_bytes(damage)
    (copy.folder / "state" / RUN / "lock").write_bytes(damage)
    (copy.folder / "scores").mkdir()
    (copy.folder / "scores" / f"{RUN}.json").write_bytes(damage)
    (copy.folder / ".snakemake" / "incomplete").mkdir(parents=True)
    (copy.folder / ".snakemake" / "incomplete" / "no base 64!").write_bytes(damage)
    assert copy.model()["state"] == "outdated"
    assert "RNNsearch-30" in copy.nmt_status()
