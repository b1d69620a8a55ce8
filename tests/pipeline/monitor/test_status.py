"""The status of trainings, from real files that runs and jobs have left."""

import json
import os
import shutil
import time
from pathlib import Path

from nmt.io.locks import hold_folder
from nmt.store.model_folder import HISTORY, NEEDED_FILES, SUMMARY, WEIGHTS
from pipeline.config.folder import RUN_SETTINGS, ExperimentFolder
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.monitor.run_state import RunStates
from pipeline.monitor.status import find_training_state, format_status_table
from tests.running import ROOT
from tests.trainings import finish, prepare_text, state_of

RUN = "rnnsearch-30"


def write(file: Path, text: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def read_state(config: Config, folder: Path) -> str:
    state, _ = find_training_state(RunStates(config, folder), RUN)
    return state


def paper_config(**pairs: object) -> Config:
    return load_config(find_layers(ROOT, pairs=pairs))


def test_states_of_an_unfinished_training(tmp_path):
    config = paper_config()
    assert read_state(config, tmp_path) == "waiting"
    prepare_text(config, tmp_path)
    assert read_state(config, tmp_path) == "waiting"

    state_folder = state_of(config, tmp_path, RUN)
    with hold_folder(state_folder, "refuse"):
        assert read_state(config, tmp_path) == "running"
    write(state_folder / "checkpoint-1200.safetensors")
    states = RunStates(config, tmp_path)
    assert find_training_state(states, RUN) == ("stopped", "resumes after update 1,200")

    # a terminal would act on the escape code
    write(tmp_path / f"logs/train/{RUN}.progress.json", '{"error": "disk \\u001b[2Jfull"}')
    assert read_state(config, tmp_path) == "failed"
    lines = format_status_table(config, tmp_path).splitlines()
    assert "RNNsearch-30: failed: disk \\x1b[2Jfull" in lines
    assert max(map(len, lines[:9])) <= 80

    # a new run has begun
    write(tmp_path / RUN_SETTINGS)
    os.utime(tmp_path / f"logs/train/{RUN}.progress.json", (0, 0))
    assert read_state(config, tmp_path) == "stopped"


def test_states_of_a_finished_training(tmp_path):
    config = paper_config()
    prepare_text(config, tmp_path)
    model_folder = finish(config, tmp_path, RUN)
    assert read_state(config, tmp_path) == "done"

    longer = paper_config(models={RUN: {"training": {"updates": 500_000}}})
    assert read_state(longer, tmp_path) == "waiting"
    write(tmp_path / "models" / RUN / WEIGHTS)
    assert read_state(longer, tmp_path) == "outdated"
    faster = paper_config(training={"learning_rate": 0.5})
    assert f"{model_folder.parent}: not used by these settings" in format_status_table(faster, tmp_path)

    write(model_folder / HISTORY, '{"update": "x"}\n')
    write(model_folder.parent / "lock")
    assert read_state(config, tmp_path) == "done"

    # the store was deleted
    key = ExperimentFolder(config, tmp_path).find_expected_model(RUN).key
    write(tmp_path / "models" / RUN / SUMMARY, json.dumps({"key": key}))
    write(tmp_path / "models" / RUN / HISTORY, '{"update": 7, "train_nll": 1.0, "seconds": 1.0}\n')
    shutil.move(tmp_path / "store", tmp_path / "former_store")
    assert "done     7/471,000" in format_status_table(config, tmp_path)
    shutil.move(tmp_path / "former_store", tmp_path / "store")

    shutil.rmtree(tmp_path / "data")
    assert "not used" not in format_status_table(config, tmp_path)
    shutil.rmtree(tmp_path / "store")
    assert read_state(config, tmp_path) == "unknown"


def test_initial_weights_are_read_once(tmp_path, monkeypatch):
    for name in NEEDED_FILES:
        write(tmp_path / "given" / name)
    config = paper_config(init_from=str(tmp_path / "given"))
    prepare_text(config, tmp_path)
    read_files = []
    monkeypatch.setattr("nmt.store.model_folder.sha256", lambda file: read_files.append(file) or "0" * 64)
    for _ in range(2):
        assert RunStates(config, tmp_path)[RUN].model
    assert len(read_files) == 1


def test_training_on_another_machine(tmp_path):
    config = paper_config()
    prepare_text(config, tmp_path)
    lock = state_of(config, tmp_path, RUN) / "lock"
    write(lock, json.dumps({"host": "node7.cluster", "machine": "another boot", "process": 4321}))
    states = RunStates(config, tmp_path)
    assert find_training_state(states, RUN) == ("running", "process 4321 on node7.cluster")
    os.utime(lock, (time.time(), time.time() - 90))
    assert read_state(config, tmp_path) == "silent"


def test_training_in_the_queue(tmp_path, monkeypatch):
    queue = "17|PENDING|Priority|rule_train_wildcards_rnnsearch-50 sent-1.2\n"
    queue += f"18|PENDING|Resources|rule_train_wildcards_{RUN} sent-1.3\n"
    queue += "19|PENDING|Priority|rule_train_on_phrases_wildcards_rnnenc-phrases sent-1.4"
    # the partition is hidden
    write(tmp_path / "squeue", f"""#!/bin/sh\n[ "$1" != --all ] || echo '{queue}'\n""")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    write(tmp_path / ".snakemake" / "slurm_sent", "a-run 18 1700000000\na-run 19 1700000000\n")
    experiments = ROOT / "experiments"
    config = load_config(find_layers(experiments / "overnight", [experiments / "multi30k" / "moses.yaml"]))
    lines = format_status_table(config, tmp_path).splitlines()
    assert "RNNsearch-30: waiting: Slurm's job 18 is PENDING (Resources)" in lines
    assert any("job 19" in line for line in lines)  # the model of Moses' phrases
    assert not any("job 17" in line for line in lines)  # of another folder


def test_pretrained_models_do_not_wait(tmp_path):
    config = paper_config(pretrained={"models": "elsewhere"})
    assert "waiting" not in format_status_table(config, tmp_path)


def test_training_of_epochs_ends_earlier(tmp_path):
    config = load_config(find_layers(ROOT / "experiments" / "sutskever2014"))
    config = config.model_copy(update={"data_from": None})
    prepare_text(config, tmp_path)
    run = "lstm-forward"
    assert RunStates(config, tmp_path)[run].planned_updates == config.models[run].training.updates

    # 7.5 epochs of 93,750 updates: 12 million pairs in batches of 128
    line = '{"update": 300, "epoch": 0.0032, "train_nll": 1.0, "seconds": 30.0}\n'
    write(state_of(config, tmp_path, run) / HISTORY, line)
    assert RunStates(config, tmp_path)[run].planned_updates == 703_125

    # the file of a running job is ahead of the history
    progress = '{"count": 370, "total": 703125, "unit": "updates", "seconds": 30.0}'
    write(tmp_path / f"logs/train/{run}.progress.json", progress)
    with hold_folder(state_of(config, tmp_path, run), "refuse"):
        assert "370/703,125" in format_status_table(config, tmp_path)
