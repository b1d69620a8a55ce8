"""What long work needs is looked at before it starts: disk, hours, a cluster's partitions."""

from __future__ import annotations

import json
import os
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from nmt.backend import gpu_pool
from pipeline.config.schema import Config
from pipeline.monitor import preflight
from pipeline.monitor.forecast import (
    ASSUMED_RATE,
    MEASURED_RATE,
    estimate_parallel_hours,
    estimate_training_times,
    estimate_updates_per_hour,
)
from pipeline.monitor.jobs import Job, JobList
from pipeline.monitor.preflight import describe_forecast, find_problems
from tests.experiments import EXTENDS_PAPER, paper
from tests.running import ROOT, run, slurm_of
from tests.trainings import prepare_text, state_of


def download(config: Config, name: str, due: bool = True) -> Job:
    path = config.archives[name].path
    return Job("download", {"archive": path}, (path,), f"logs/download/{path}.log", due, True, {})


def train(run: str) -> Job:
    return Job("train", {"model": run}, ("model",), f"logs/train/{run}.log", True, False, {})


def test_only_what_is_due_is_looked_at(tmp_path: Path) -> None:
    config = paper(tmp_path)
    assert find_problems(JobList(config, ())) == []
    jobs = (download(config, "giga-fren"), download(config, "un-2000", due=False), train("rnnsearch-30"))
    listed = JobList(config, jobs)
    assert (listed.pending_jobs, listed.runs_to_train, listed.archives_to_download) == (
        [jobs[0], jobs[2]],
        ["rnnsearch-30"],
        ["giga-fren"],
    )


@pytest.mark.parametrize(("rule", "due"), [("perplexity", True), ("vectors", True), ("perplexity", False)])
def test_a_gpu_that_any_rule_asks_for_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, due: bool
) -> None:
    monkeypatch.setattr(gpu_pool, "has_gpu_evidence", lambda: False)
    config = paper(tmp_path, decoding={"device": "cuda"})
    job = Job(rule, {}, ("a",), f"logs/{rule}/a.log", due, False, {"gpu": 1})
    assert any("no NVIDIA GPU" in line for line in find_problems(JobList(config, (job,)))) == due


def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = paper(tmp_path)
    listed = JobList(config, (download(config, "europarl-v7"),))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _: usage(0, 0, 10**8))
    assert any(line.startswith("warning: disk: needs 0.7 GB") for line in describe_forecast(listed, tmp_path))
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _: usage(0, 0, 10**12))
    assert not any(line.startswith("warning") for line in describe_forecast(listed, tmp_path))


def test_hours_come_from_a_run_that_was_measured_else_from_the_settings(tmp_path: Path) -> None:
    config = paper(tmp_path)
    runs = list(config.use.models)
    times = {time.run: time for time in estimate_training_times(config, tmp_path, runs)}
    assert {time.source for time in times.values()} == {ASSUMED_RATE}
    # Table 2's updates; RNNsearch-50* continues from the other's 288,000
    assert sum(time.hours for time in times.values()) == pytest.approx(6.8, abs=0.2)
    assert times["rnnencdec-50"].hours == pytest.approx(
        600_000 / estimate_updates_per_hour(config, "rnnencdec-50")
    )
    assert times["rnnsearch-50-star"].updates == 667_000 - 288_000  # it continues from the other's 288,000
    chain = times["rnnsearch-50"].hours + times["rnnsearch-50-star"].hours
    assert estimate_parallel_hours(config, list(times.values())) == pytest.approx(chain)

    prepare_text(config, tmp_path)
    history = state_of(config, tmp_path, "rnnsearch-50") / "history.jsonl"
    lines = [{"update": u, "train_nll": 1.0, "seconds": u / 10} for u in (1000, 2000)]
    history.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    times = {time.run: time for time in estimate_training_times(config, tmp_path, runs)}
    assert times["rnnsearch-50"].hours == pytest.approx(286_000 / 36_000)
    assert times["rnnsearch-50-star"].source == MEASURED_RATE
    assert times["rnnsearch-30"].source == ASSUMED_RATE  # its sentences are shorter
    (training, *_) = describe_forecast(JobList(config, tuple(map(train, runs))), tmp_path)
    assert f"({ASSUMED_RATE}; {MEASURED_RATE})" in training


def test_the_command_asks_a_cluster_as_a_run_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = slurm_of(tmp_path, "cpu* 12:00:00 (null)", "gpu 2-00:00:00 gpu:h200:8")
    (programs / "scontrol").symlink_to("squeue")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    (tmp_path / "config.yaml").write_text(EXTENDS_PAPER, encoding="utf-8")
    profile = tmp_path / "mine"
    profile.mkdir()
    text = (ROOT / "slurm" / "config.yaml").read_text(encoding="utf-8")
    with_gpu = text.replace('slurm_partition: ""', "slurm_partition: cpu", 1).replace(
        'slurm_partition: ""', "slurm_partition: gpu", 1
    )
    (profile / "config.yaml").write_text(with_gpu, encoding="utf-8")
    command = [sys.executable, "-m", "nmt", "preflight", str(tmp_path), "--profile", str(profile)]
    command += ["--config", "use={train: [europarl-v7]}", "--config", "mirrors=[/nowhere]"]
    lines = run([*command, "--config", "resources={gpu_teraflops: 1}"]).stdout.splitlines()
    wanted = (
        "nmt: error: train: a job asks for 120 hours, but partition gpu grants 48: set resources.train_hours"
    )
    assert any(line.startswith(wanted) for line in lines), lines
    assert not any("translate" in line for line in lines)
