"""The table of trainings, from real files that runs and jobs left."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from nmt.io.locks import hold_folder
from nmt.store.model_folder import HISTORY, WEIGHTS
from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import collect_runs
from pipeline.config.schema import Config
from pipeline.monitor.forecast import estimate_training_times
from pipeline.monitor.status import TrainingStatus, format_status_table, read_training_status
from tests.running import ROOT
from tests.trainings import finish, prepare_text, state_of

RUN = "rnnsearch-30"


def write(folder: Path, name: str, text: str = "") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def look(config: Config, folder: Path, run: str = RUN) -> TrainingStatus:
    return read_training_status(config, folder, collect_runs(config, list(config.models))[run])


def prepared(experiment: Path, folder: Path) -> Config:
    """The settings of an experiment, whose text is prepared in a folder."""
    config = load_config(find_layers(experiment))
    prepare_text(config, folder)
    return config


def test_what_runs_waits_stopped_and_failed(tmp_path: Path) -> None:
    assert look(load_config(find_layers(ROOT)), tmp_path).state == "waiting"
    config = prepared(ROOT, tmp_path)
    assert look(config, tmp_path).state == "waiting"
    state = state_of(config, tmp_path, RUN)
    with hold_folder(state, "refuse"):
        assert look(config, tmp_path).state == "running"
    write(state, "checkpoint-1200.safetensors")
    found = look(config, tmp_path)
    assert (found.state, found.note) == ("stopped", "resumes after update 1,200")
    write(tmp_path, f"logs/train/{RUN}.progress.json", '{"error": "disk \\u001b[2Jfull"}')
    assert look(config, tmp_path).state == "failed"
    lines = format_status_table(config, tmp_path).splitlines()
    assert "RNNsearch-30: failed: disk \ufffd[2Jfull" in lines  # a terminal would obey the escape code
    assert max(map(len, lines[:9])) <= 80


def test_what_is_done_and_what_was_done_with_other_settings(tmp_path: Path) -> None:
    config = prepared(ROOT, tmp_path)
    finished = finish(config, tmp_path, RUN)
    assert look(config, tmp_path).state == "done"
    longer = load_config(find_layers(ROOT, pairs={"models": {RUN: {"training": {"updates": 500_000}}}}))
    assert look(longer, tmp_path).state == "waiting"
    write(tmp_path, f"models/{RUN}/{WEIGHTS}")
    assert look(longer, tmp_path).state == "outdated"
    other = load_config(find_layers(ROOT, pairs={"training": {"learning_rate": 0.5}}))
    assert f"{finished.parent}: not used by these settings" in format_status_table(other, tmp_path)
    for damage in ("", '{"update": "x"}\n'):
        write(finished, HISTORY, damage)
        write(finished.parent, "lock", damage)
        assert look(config, tmp_path).state == "done"


def test_a_run_on_another_node(tmp_path: Path) -> None:
    config = prepared(ROOT, tmp_path)
    lock = state_of(config, tmp_path, RUN) / "lock"
    claim = {"host": "node7.cluster", "machine": "another boot", "process": 4321}
    write(lock.parent, lock.name, json.dumps(claim))
    found = look(config, tmp_path)
    assert (found.state, found.note) == ("running", "process 4321 on node7.cluster")
    os.utime(lock, (time.time(), time.time() - 90))
    assert look(config, tmp_path).state == "silent"


def test_other_jobs_that_work_or_failed(tmp_path: Path) -> None:
    config = load_config(find_layers(ROOT))
    write(tmp_path, "logs/translate/a.progress.json", '{"count": 50, "total": 200, "unit": "sentences"}')
    write(tmp_path, "logs/translate/b.progress.json", '{"count": 200, "total": 200, "unit": "sentences"}')
    write(tmp_path, "logs/score/c.progress.json", '{"error": "no such file"}')
    write(tmp_path, "logs/score/d.progress.json", "[1")
    assert format_status_table(config, tmp_path).endswith(
        "\n\nscore c: failed: no such file\ntranslate a: 25%, 50 sentences"
    )


def test_a_run_of_some_epochs_ends_with_them_not_at_the_updates_that_would_be_too_many(
    tmp_path: Path,
) -> None:
    config = load_config(find_layers(ROOT / "experiments" / "sutskever2014"))
    config = config.model_copy(update={"data_from": None})
    prepare_text(config, tmp_path)
    run = "lstm-forward"
    most = config.models[run].training.updates
    assert look(config, tmp_path, run).updates == most
    # 12 million pairs: 93,750 updates an epoch
    progress = '{"count": 300, "total": 703125, "unit": "updates", "seconds": 30.0}'
    write(tmp_path, f"logs/train/{run}.progress.json", progress)
    state = state_of(config, tmp_path, run)
    with hold_folder(state, "refuse"):
        begun = look(config, tmp_path, run)
        assert (begun.state, begun.reached.update, begun.updates) == ("running", 0, most)
        line = {"update": 200, "epoch": 200 / 93_750, "train_nll": 1.0, "seconds": 20.0}
        write(state, HISTORY, json.dumps(line) + "\n")
        found = look(config, tmp_path, run)
    assert (found.reached.update, found.updates) == (300, 703_125)
    assert found.seconds_left == pytest.approx((703_125 - 300) / 10)
    (left,) = estimate_training_times(config, tmp_path, [run])
    assert left.updates == 703_125 - 200
