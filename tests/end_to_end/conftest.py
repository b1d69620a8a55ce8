"""One small run from nothing to its published results, which the tests of whole runs share; and one browser."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml
from filelock import FileLock
from selenium import webdriver

from pipeline.config.layers import merge_layers, read_layer
from tests.browser import browser
from tests.plans import shared_folder
from tests.running import ROOT, make_demo, run, run_command

QUICK = {"test_demo.py", "test_model_types.py"}
"""What `make test` has of these tests; `make test-slow` has the others."""

SMALL = """
# Models that learn enough of short sentences to differ in every number; one has two seeds, and one goes on from both.
use: {models: [rnnencdec-50, rnnsearch-50, rnnsearch-50-star], systems: [both], rescored: [mixed]}
systems:
  both: {label: Both, members: [rnnencdec-50, rnnsearch-50], average: log_probability, decoding: {beam: 3, n_best: 3}}
rescored:
  mixed: {label: Mixed, n_best_list: both, members: [rnnsearch-50]}
corpora:
  demo-train: {grammar: {split: train, pairs: 2000}}
  demo-test: {grammar: {split: test, pairs: 60}}
grammar: {max_words: 12, lexicon: 20}
cleaning: {max_words: 11}
architecture: {hidden_units: 64, embedding_size: 32, maxout_units: 32, alignment_units: 32}
training: {learning_rate: 0.01, batch_size: 40, validate_every: 100, checkpoint_every: 100, log_every: 50}
models:
  rnnencdec-50: {training: {updates: 200}}
  rnnsearch-50: {seeds: [1, 8], training: {updates: 200}}
  rnnsearch-50-star: {seeds: [1, 8], training: {updates: 300}}
artifacts:
  papers: [bahdanau2015]
  figure2_models: [rnnsearch-50, rnnencdec-50]
  figure2_max_words: 12
  figure3_words: [5, 12]
  table3_models: [rnnencdec-50, rnnsearch-50]
  table3_words: 8
  ablations: {rnnsearch-50: [rnnsearch-50-star]}
  bootstrap_samples: 50
"""
OUTPUT = "output.txt"
"""What the run printed, in its folder."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in QUICK:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run, which is killed with all its jobs and called again, by the process that asks first."""
    folder = shared_folder(tmp_path_factory) / "demo"
    with FileLock(f"{folder}.lock"):
        if not (folder / OUTPUT).exists():
            small_experiment(folder)
            command = run_command(folder)
            kill_once(
                lambda: any(folder.glob("store/trainings/rnnsearch-50-*/checkpoint-*.safetensors")), command
            )
            result = run(command)
            assert result.returncode == 0, result.stdout
            (folder / OUTPUT).write_text(result.stdout, encoding="utf-8")
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run, times and Snakemake's records included, to change."""
    folder = tmp_path / finished.name  # the report's title has it
    shutil.copytree(finished, folder)
    return folder


def small_experiment(folder: Path) -> None:
    """Write the demo's settings, made small, as an experiment's own."""
    overlay = make_demo(folder)
    small = folder / "small.yaml"
    small.write_text(SMALL, encoding="utf-8")
    settings = merge_layers(read_layer(file) for file in (folder / "config.yaml", overlay, small))
    (folder / "config.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


def kill_once(moment: Callable[[], bool], command: list[str]) -> None:
    """Start a command, and kill it with all its processes in this moment."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not moment():
            assert process.poll() is None
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        for victim in (psutil.Process(process.pid), *reversed(children)):
            with suppress(psutil.NoSuchProcess):
                victim.kill()
    psutil.wait_procs(children, timeout=30)  # they hold the folder until they are gone


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    with browser() as started:
        yield started
