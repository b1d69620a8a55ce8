"""The table of trainings, from real files that runs and jobs left."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from nmt.io.locks import hold
from nmt.store.model_folder import SETTINGS, WEIGHTS
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import run_settings, runs_of
from pipeline.config.schema import Config
from pipeline.monitor.forecast import training_times
from pipeline.monitor.status import Training, table, training
from tests.running import ROOT

RUN = "rnnsearch-30"


def write(folder: Path, name: str, text: str = "") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def look(config: Config, folder: Path, run: str = RUN) -> Training:
    return training(config, folder, runs_of(config, list(config.models))[run])


def test_what_runs_waits_stopped_and_failed(tmp_path: Path) -> None:
    config = load(find_layers(ROOT))
    assert look(config, tmp_path).state == "waiting"
    with hold(tmp_path / "state" / RUN, "refuse"):
        assert look(config, tmp_path).state == "running"
    write(tmp_path, f"state/{RUN}/checkpoint-1200.safetensors")
    found = look(config, tmp_path)
    assert (found.state, found.note) == ("stopped", "resumes after update 1,200")
    write(tmp_path, f"logs/train/{RUN}.progress.json", '{"error": "disk \\u001b[2Jfull"}')
    assert look(config, tmp_path).state == "failed"
    lines = table(config, tmp_path).splitlines()
    assert "RNNsearch-30: failed: disk \ufffd[2Jfull" in lines  # a terminal would obey the escape code
    assert max(map(len, lines[:9])) <= 80


def test_what_is_done_and_with_other_settings_and_damaged_files(tmp_path: Path) -> None:
    config, model = load(find_layers(ROOT)), tmp_path / "models" / RUN
    settings = run_settings(config, runs_of(config, [RUN])[RUN])
    write(tmp_path, f"models/{RUN}/{WEIGHTS}")
    write(tmp_path, f"models/{RUN}/{SETTINGS}", settings.model_dump_json())
    assert look(config, tmp_path).state == "done"
    longer = settings.training.model_copy(update={"updates": 7})
    write(
        tmp_path,
        f"models/{RUN}/{SETTINGS}",
        settings.model_copy(update={"training": longer}).model_dump_json(),
    )
    found = look(config, tmp_path)
    assert (found.state, found.note) == ("outdated", "training.updates was 7 and is now 471000")
    for damage in ("", '{"update": "x"}\n'):
        for file in (SETTINGS, "history.jsonl", "summary.json"):
            (model / file).write_text(damage, encoding="utf-8")
        write(tmp_path, f"state/{RUN}/lock", damage)
        assert look(config, tmp_path).note == "settings.json cannot be read"


def test_a_run_on_another_node(tmp_path: Path) -> None:
    config, lock = load(find_layers(ROOT)), tmp_path / "state" / RUN / "lock"
    claim = {"host": "node7.cluster", "machine": "another boot", "process": 4321}
    write(tmp_path, f"state/{RUN}/lock", json.dumps(claim))
    found = look(config, tmp_path)
    assert (found.state, found.note) == ("running", "process 4321 on node7.cluster")
    os.utime(lock, (time.time(), time.time() - 90))
    assert look(config, tmp_path).state == "silent"


def test_other_jobs_that_work_or_failed(tmp_path: Path) -> None:
    config = load(find_layers(ROOT))
    write(tmp_path, "logs/translate/a.progress.json", '{"count": 50, "total": 200, "unit": "sentences"}')
    write(tmp_path, "logs/translate/b.progress.json", '{"count": 200, "total": 200, "unit": "sentences"}')
    write(tmp_path, "logs/score/c.progress.json", '{"error": "no such file"}')
    write(tmp_path, "logs/score/d.progress.json", "[1")
    assert table(config, tmp_path).endswith(
        "\n\nscore c: failed: no such file\ntranslate a: 25%, 50 sentences"
    )


def test_a_run_of_some_epochs_ends_with_them_not_at_the_updates_that_would_be_too_many(
    tmp_path: Path,
) -> None:
    config = load(find_layers(ROOT / "experiments" / "sutskever2014"))
    run = "lstm-forward"
    most = config.models[run].training.updates
    assert look(config, tmp_path, run).updates == most
    # 12 million pairs: 93,750 updates an epoch
    progress = '{"count": 300, "total": 703125, "unit": "updates", "seconds": 30.0}'
    write(tmp_path, f"logs/train/{run}.progress.json", progress)
    with hold(tmp_path / "state" / run, "refuse"):
        begun = look(config, tmp_path, run)
        assert (begun.state, begun.reached.update, begun.updates) == ("running", 0, most)
        line = {"update": 200, "epoch": 200 / 93_750, "train_nll": 1.0, "seconds": 20.0}
        write(tmp_path, f"state/{run}/history.jsonl", json.dumps(line) + "\n")
        found = look(config, tmp_path, run)
    assert (found.reached.update, found.updates) == (300, 703_125)
    assert found.seconds_left == pytest.approx((703_125 - 300) / 10)
    (left,) = training_times(config, tmp_path, [run])
    assert left.updates == 703_125 - 200
