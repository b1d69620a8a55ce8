"""What long work needs is checked before it starts: disk, GPU, the partitions of a cluster."""

import os
import re
import sys
from collections import namedtuple

import pytest

from nmt.backend import gpu_pool
from pipeline.config.schema import Config
from pipeline.monitor import preflight
from pipeline.monitor.jobs import Job, JobList
from pipeline.monitor.preflight import describe_forecast, find_problems
from tests.experiments import EXTENDS_PAPER, paper
from tests.running import ROOT, run, slurm_of
from tests.trainings import finish, prepare_text


def download_job(config: Config, name: str) -> Job:
    path = config.archives[name].path
    return Job("download", {"archive": path}, f"logs/download/{path}.log", is_local=True, resources={})


@pytest.mark.parametrize("rule", ["perplexity", "vectors"])
def test_missing_gpu_is_a_problem(tmp_path, monkeypatch, rule):
    monkeypatch.setattr(gpu_pool, "has_gpu_evidence", lambda: False)
    config = paper(tmp_path, decoding={"device": "cuda"})
    job = Job(rule, {}, f"logs/{rule}/a.log", is_local=False, resources={"gpu": 1})
    (problem,) = find_problems(JobList(config, (job,)))
    assert "no NVIDIA GPU" in problem


@pytest.mark.parametrize("is_finished", [False, True])
def test_finished_model_needs_no_gpu(tmp_path, monkeypatch, is_finished):
    monkeypatch.setattr(gpu_pool, "has_gpu_evidence", lambda: False)
    monkeypatch.chdir(tmp_path)
    config = paper(tmp_path, training={"device": "cuda"})
    prepare_text(config, tmp_path)
    if is_finished:
        finish(config, tmp_path, "rnnsearch-30")
    job = Job("train", {"run": "rnnsearch-30"}, "logs/train/rnnsearch-30.log", False, {"gpu": 1})
    assert bool(find_problems(JobList(config, (job,)))) != is_finished


@pytest.mark.parametrize(("free_bytes", "prefix"), [(10**8, "warning: "), (10**12, "")])
def test_full_disk_is_a_warning(tmp_path, monkeypatch, free_bytes, prefix):
    config = paper(tmp_path)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _: usage(0, 0, free_bytes))
    (line,) = describe_forecast(JobList(config, (download_job(config, "europarl-v7"),)))
    assert line.startswith(f"{prefix}disk: needs 0.7 GB")


def test_preflight_checks_partitions(tmp_path, monkeypatch):
    programs = slurm_of(tmp_path, "cpu* 12:00:00 64000 (null)", "gpu 2-00:00:00 512000 gpu:h200:8")
    (programs / "scontrol").symlink_to("squeue")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    # the first partition of the profile is for all jobs, the second one for those with a GPU
    profile = tmp_path / "mine"
    profile.mkdir()
    text = (ROOT / "slurm" / "config.yaml").read_text(encoding="utf-8")
    for name in ("cpu", "gpu"):
        text = text.replace('slurm_partition: ""', f"slurm_partition: {name}", 1)
    (profile / "config.yaml").write_text(text, encoding="utf-8")

    # text of the folder's own, of 10 GB
    for language in ("en", "fr"):
        with (tmp_path / f"own.{language}").open("wb") as file:
            file.truncate(5 * 10**9)
    own_text = """
use: {train: [europarl-v7, own]}
corpora: {own: {source: {file: own.en}, target: {file: own.fr}}}
mirrors: [/nowhere]
"""
    (tmp_path / "config.yaml").write_text(EXTENDS_PAPER + own_text, encoding="utf-8")

    command = [sys.executable, "-m", "nmt", "preflight", str(tmp_path), "--profile", str(profile)]
    output = run(command).stdout
    (needed_gb,) = re.findall("disk: needs (.+?) GB", output)
    assert float(needed_gb) > 39
    assert (
        "error: train: a job asks for 120 hours, but partition gpu grants 48: ask for less under `resources`"
        in output
    )
    assert "translate" not in output
