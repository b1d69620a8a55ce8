"""`nmt status` beside a training that runs, after one that was killed, and after the end; on damaged files too.

The training is a real process in an experiment's folder, as Snakemake starts it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from nmt.io.progress import LOG
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import run_settings, runs_of
from pipeline.config.schema import Config
from pipeline.monitor.jobs import FILE, JobList
from tests.bitexts import write_bitext
from tests.running import ROOT, TINY, make_demo, run

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

    def __init__(self, folder: Path) -> None:
        self.folder, self.overlay = folder, folder / "tiny.yaml"
        folder.mkdir(exist_ok=True)
        make_demo(folder)
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
        return load(find_layers(self.folder, [self.overlay]))

    def started(self) -> None:
        """The settings that a run would note at its start."""
        JobList(self.config, ()).write(self.folder / FILE)

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

    def status(self) -> str:
        """What `nmt status` says of the run in a process of its own."""
        result = run([sys.executable, "-m", "nmt", "status", str(self.folder)])
        assert result.returncode == 0 and "Traceback" not in result.stdout, result.stdout
        lines = result.stdout.splitlines()
        return " ".join(" ".join(line for line in lines if line.startswith("RNNsearch-30")).split())

    def status_once(self, word: str) -> str:
        """What status says as soon as this word is in it."""
        deadline = time.monotonic() + 60
        while word not in (said := self.status()):
            assert time.monotonic() < deadline, said
            time.sleep(0.3)
        return said


def test_a_training_that_runs_is_killed_and_fails(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path / "experiment")
    experiment.updates(1_000_000)
    process = experiment.train()
    said = experiment.status_once(":")
    assert f"running: process {process.pid} on " in said and "/1,000,000" in said
    while not list(experiment.folder.glob(f"state/{RUN}/checkpoint-*.safetensors")):
        time.sleep(0.1)
    process.send_signal(signal.SIGSTOP)  # its last word may be half-written
    process.kill()
    process.wait()
    assert "stopped: resumes after update" in experiment.status()
    assert experiment.train("--dev", "text").wait(timeout=60) == 2
    assert "failed: text: no bitext" in experiment.status()


def test_a_finished_training_changed_settings_and_damaged_files(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path / "experiment")
    assert experiment.train().wait(timeout=90) == 0

    def seen() -> dict[str, tuple[int, int]]:
        files = [path for path in experiment.folder.rglob("*")]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = seen()
    assert "done 10/10 100%" in experiment.status()
    assert seen() == before  # nothing is written or locked
    experiment.updates(20)
    assert "outdated: training.updates was 10 and is now 20" in experiment.status()
    for damage in (b"", b'{"update": "x"}\n'):
        for file in ("history.jsonl", "summary.json", "settings.json"):
            (experiment.folder / "models" / RUN / file).write_bytes(damage)
        (experiment.folder / "state" / RUN / "lock").write_bytes(damage)
        assert "outdated: settings.json cannot be read" in experiment.status()
