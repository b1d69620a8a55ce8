"""What breaks: one clear line, nothing half-made left behind, and the next run goes on."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml

from tests.running import ROOT, ends, make_demo, processes_in, run, run_command, snakemake

ENGLISH = "".join(f"This is sentence number {number} .\n" for number in range(120))
FRENCH = "".join(f"Ceci est la phrase numéro {number} .\n" for number in range(120))


# --- archives


class Mirror:
    """Two compressed files of parallel text, and an experiment that downloads them."""

    def __init__(self, folder: Path) -> None:
        self.files = {language: folder / "mirror" / f"text.{language}.gz" for language in ("en", "fr")}
        self.experiment = folder / "experiment"
        (folder / "mirror").mkdir()
        self.experiment.mkdir()
        self.publish(ENGLISH, FRENCH)

    def publish(self, english: str, french: str) -> None:
        """Write both files and state their sums in the experiment's settings."""
        archives = {}
        for language, text in (("en", english), ("fr", french)):
            file = self.files[language]
            file.write_bytes(gzip.compress(text.encode(), mtime=0))
            archives[language] = {
                "url": "https://localhost:1/nowhere",
                "path": file.name,
                "bytes": file.stat().st_size,
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            }
        settings = {
            "mirrors": [str(self.files["en"].parent)],
            "archives": archives,
            "corpora": {"mini": {"source": {"archive": "en"}, "target": {"archive": "fr"}, "shards": 2}},
            "use": {"train": ["mini"]},
            "selection": {"enabled": False},
        }
        (self.experiment / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")

    def prepare(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Bring the training text up to the vocabulary."""
        return snakemake(self.experiment, "--cores", "2", *options, "--", "data/vocabulary/en.tsv")


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path)


def error_lines(output: str) -> list[str]:
    return [line for line in output.split("\n") if line.startswith("nmt: error: ")]


def test_damaged_archive(mirror: Mirror) -> None:
    whole = mirror.files["fr"].read_bytes()
    mirror.files["fr"].write_bytes(whole[:-1])
    result = mirror.prepare()
    assert result.returncode != 0
    (line,) = error_lines(result.stdout)
    assert "data/archives/text.fr.gz" in line
    assert "Traceback" not in result.stdout
    archives = mirror.experiment / "data" / "archives"
    assert not (archives / "text.fr.gz").exists()
    assert not (mirror.experiment / "data" / "raw").exists()
    mirror.files["fr"].write_bytes(whole)
    again = mirror.prepare()
    assert again.returncode == 0, again.stdout
    assert (archives / "text.fr.gz").read_bytes() == whole


def test_a_mirror_with_other_bytes_brings_its_own_sums(mirror: Mirror, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    sums = {}
    for language, file in mirror.files.items():
        content = gzip.compress(gzip.decompress(file.read_bytes()).upper(), mtime=0)
        (other / file.name).write_bytes(content)
        sums[language] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    refused = mirror.prepare("--config", f"mirrors=['{other}']")
    assert refused.returncode != 0
    assert error_lines(refused.stdout)
    overlay = tmp_path / "sums.yaml"
    overlay.write_text(yaml.safe_dump({"mirrors": ["other"], "archives": sums}), encoding="utf-8")
    accepted = mirror.prepare("--configfile", str(overlay))
    assert accepted.returncode == 0, accepted.stdout
    assert "SENTENCE" in (mirror.experiment / "data" / "vocabulary" / "en.tsv").read_text(encoding="utf-8")


def test_sides_that_differ_by_a_line(mirror: Mirror) -> None:
    mirror.publish(ENGLISH, FRENCH[: FRENCH[:-1].rindex("\n") + 1])
    result = mirror.prepare()
    assert result.returncode != 0
    (line,) = error_lines(result.stdout)
    assert "text.en.gz" in line
    assert "text.fr.gz" in line
    assert "120" in line
    assert "119" in line
    assert not list((mirror.experiment / "data" / "raw").rglob("*.zst*"))
    mirror.publish(ENGLISH, FRENCH)
    again = mirror.prepare()
    assert again.returncode == 0, again.stdout


# --- killed processes

UPDATES = 300
ONE_MODEL = f"""
use: {{models: [rnnsearch-50]}}
artifacts: {{figure2_models: [rnnsearch-50], table3_models: [rnnsearch-50]}}
models: {{rnnsearch-50: {{training: {{updates: {UPDATES}}}}}}}
training: {{validate_every: 50, checkpoint_every: 10, log_every: 10}}
"""
TARGET = "models/rnnsearch-50/model.safetensors"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment with one model whose text is ready."""
    folder = tmp_path_factory.mktemp("prepared")
    overlay = make_demo(folder)
    (folder / "one.yaml").write_text(ONE_MODEL, encoding="utf-8")
    options = ["--configfile", str(overlay), str(folder / "one.yaml"), "--"]
    result = snakemake(folder, "--cores", "2", *options, "data")
    assert result.returncode == 0, result.stdout
    return folder


@pytest.fixture(scope="module")
def unbroken(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The weights of a training run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("unbroken") / "demo"
    shutil.copytree(prepared, folder)
    result = run(train_command(folder))
    assert result.returncode == 0, result.stdout
    return (folder / TARGET).read_bytes()


@pytest.fixture
def experiment(prepared: Path, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "demo"
    shutil.copytree(prepared, folder)
    yield folder
    for process in trainers(folder):
        process.kill()


def train_command(folder: Path) -> list[str]:
    overlays = [str(folder / "tiny.yaml"), str(folder / "one.yaml")]
    return run_command(folder, "--configfile", *overlays, "--", TARGET)


def start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        train_command(folder), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def trainers(folder: Path) -> list[psutil.Process]:
    """The processes that train in an experiment."""
    return processes_in(folder, "nmt", "train")


def wait_for_checkpoint(folder: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not list((folder / "state" / "rnnsearch-50").glob("checkpoint-*.json")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_training_killed_goes_on_to_the_same_weights(experiment: Path, unbroken: bytes) -> None:
    process = start(experiment)
    wait_for_checkpoint(experiment, process)
    (trainer,) = trainers(experiment)
    trainer.send_signal(signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "rules/train.smk" in output
    assert not (experiment / TARGET).exists()
    again = run(train_command(experiment))
    assert again.returncode == 0, again.stdout
    assert (experiment / TARGET).read_bytes() == unbroken


def test_snakemake_killed_with_all_its_jobs_goes_on(experiment: Path, unbroken: bytes) -> None:
    process = start(experiment)
    wait_for_checkpoint(experiment, process)
    for victim in reversed(psutil.Process(process.pid).children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # ended with the one killed before it
            victim.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    assert process.returncode != 0
    assert not (experiment / TARGET).exists()
    again = run(train_command(experiment))
    assert again.returncode == 0, again.stdout
    assert (experiment / TARGET).read_bytes() == unbroken


def test_snakemake_killed_alone_leaves_no_second_writer(experiment: Path, unbroken: bytes) -> None:
    process = start(experiment)
    wait_for_checkpoint(experiment, process)
    (orphan,) = trainers(experiment)
    for victim in psutil.Process(process.pid).children():
        victim.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    again = run(train_command(experiment))
    assert again.returncode == 0, again.stdout
    assert ends(orphan.pid)
    assert (experiment / TARGET).read_bytes() == unbroken


def test_a_second_run_is_refused_while_the_first_works(experiment: Path) -> None:
    process = start(experiment)
    wait_for_checkpoint(experiment, process)
    second = run(train_command(experiment))
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=120)
    assert second.returncode == 2
    assert "another run is active here" in second.stdout
    assert len(second.stdout.strip().split("\n")) == 1
