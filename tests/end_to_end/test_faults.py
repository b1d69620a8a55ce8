"""A second run of an experiment, and a training that has lost its Snakemake."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.running import ROOT, ends, make_demo, processes_in, run, run_command, snakemake

ONE_MODEL = """
use: {models: [rnnsearch-50]}
artifacts: {figure2_models: [rnnsearch-50], table3_models: [rnnsearch-50]}
models: {rnnsearch-50: {training: {updates: 300}}}
training: {validate_every: 50, checkpoint_every: 10, log_every: 10}
"""
TARGET = "models/rnnsearch-50/model.safetensors"


def train_command(folder: Path) -> list[str]:
    overlays = [str(folder / "tiny.yaml"), str(folder / "one.yaml")]
    return run_command(folder, "--configfile", *overlays, "--", TARGET)


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[Path]:
    """An experiment with one model whose text is ready."""
    folder = tmp_path / "demo"
    overlay = make_demo(folder)
    (folder / "one.yaml").write_text(ONE_MODEL, encoding="utf-8")
    options = ["--configfile", str(overlay), str(folder / "one.yaml"), "--"]
    result = snakemake(folder, "--cores", "2", *options, "data")
    assert result.returncode == 0, result.stdout
    yield folder
    for process in trainers(folder):
        process.kill()


def trainers(folder: Path) -> list[psutil.Process]:
    """The processes that train in an experiment."""
    return processes_in(folder, "nmt", "train")


def test_a_second_run_is_refused_and_a_training_that_lost_its_snakemake_is_no_second_writer(
    experiment, tmp_path
):
    unbroken = tmp_path / "unbroken"
    shutil.copytree(experiment, unbroken)
    process = subprocess.Popen(
        train_command(experiment), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + 120
    while not list(experiment.glob("store/trainings/rnnsearch-50-*/checkpoint-*.safetensors")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (orphan,) = trainers(experiment)
    orphan.send_signal(signal.SIGSTOP)  # so that it does not end meanwhile
    second = run(train_command(experiment))
    assert second.returncode == 2
    assert "another run is active here" in second.stdout and second.stdout.count("\n") == 1
    for victim in psutil.Process(process.pid).children():  # Snakemake, and not its jobs
        victim.send_signal(signal.SIGKILL)
    orphan.send_signal(signal.SIGCONT)
    process.communicate(timeout=120)
    again = run(train_command(experiment))
    assert again.returncode == 0, again.stdout
    assert ends(orphan.pid)
    assert run(train_command(unbroken)).returncode == 0
    assert (experiment / TARGET).read_bytes() == (unbroken / TARGET).read_bytes()
