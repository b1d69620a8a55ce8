"""`nmt train` cannot be broken: killed in the middle of any write, started twice, out of time.

Whatever happens to a run, it ends with the bits of one that nothing happened to. Every run here is a process of its
own, as a user starts it.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nmt.settings.training import ModelRun
from nmt.store import model_folder
from nmt.store.tensors import load_metadata, load_tensors
from tests.bitexts import shifted_pairs, write_bitext
from tests.running import ROOT
from tests.small_models import small_architecture
from tests.training_settings import model_run

UPDATES = 60
CLOCKS = {"seconds", "source_words_per_second", "target_words_per_second"}
MORE_TO_DO = 75

Moment = Callable[[], bool]


def settings() -> ModelRun:
    """A model whose files are large enough to be caught half-written."""
    architecture = small_architecture(
        hidden_units=96, embedding_size=48, maxout_units=40, alignment_units=64, init_std=0.1
    )
    run = model_run(updates=UPDATES, checkpoint_every=3, keep="best", order="seed")
    return run.model_copy(update={"architecture": architecture})


def ended(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for the end; a process that hangs is made to say where."""
    try:
        said = process.communicate(timeout=90)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        pytest.fail(f"the process hangs: {process.communicate()[1]}")
    return subprocess.CompletedProcess(process.args, process.returncode, stderr=said)


class Run:
    """One run by its folders: text, state and model."""

    def __init__(self, text: Path, folder: Path) -> None:
        self.text, self.store, self.model = text, folder / "store", folder / "model"

    @property
    def state(self) -> Path:
        """The folder of the checkpoints; one that is not there before the first start."""
        return next(self.store.glob("trainings/*"), self.store / "none")

    @property
    def finished(self) -> Path:
        """The finished model in the store, which `model` links to."""
        return next(self.state.glob("finished-*"), self.store / "none")

    def command(self, *options: str) -> list[str]:
        bitext = str(self.text / "bitext")
        vocabularies = [f"--{side}-vocabulary={self.text / side}.tsv" for side in ("source", "target")]
        command = [sys.executable, "-m", "nmt", "train", "--settings", settings().model_dump_json()]
        command += ["--train", bitext, "--dev", bitext, *vocabularies]
        return [*command, "--store", str(self.store), "--output", str(self.model), *options]

    def start(self, *options: str) -> subprocess.Popen[str]:
        command = self.command(*options)
        environment = os.environ | {"PYTHONFAULTHANDLER": "1"}
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes)

    def finish(self, *options: str) -> subprocess.CompletedProcess[str]:
        return ended(self.start(*options))

    def outcome(self) -> dict[str, Any]:
        """Everything that a run leaves behind; clocks and rates apart."""
        final = self.model / model_folder.FINAL_STATE
        record = json.loads(load_metadata(final)["record"])
        history = (self.model / model_folder.HISTORY).read_text(encoding="utf-8").splitlines()
        summary = json.loads((self.model / model_folder.SUMMARY).read_text(encoding="utf-8"))
        counters = {key: value for key, value in record["counters"].items() if "seconds" not in key}
        del counters["log_window"]["seconds"]
        return {
            "weights": (self.model / model_folder.WEIGHTS).read_bytes(),
            "final state": {name: tensor.numpy().tobytes() for name, tensor in load_tensors(final).items()},
            "counters": {key: value for key, value in counters.items() if key != "history_bytes"},
            "history": [without(json.loads(line), CLOCKS) for line in history],
            "summary": without(summary, {"hours"}),
            "seconds": summary["hours"] * 3600,
        }


def without(values: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def same(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The parts in which two outcomes differ: a comparison of the whole would print megabytes."""
    return [part for part in one if part != "seconds" and one[part] != other[part]]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    write_bitext(folder, shifted_pairs())
    return folder


@pytest.fixture(scope="module")
def finished(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that nothing disturbed."""
    run = Run(text, tmp_path_factory.mktemp("finished"))
    result = run.finish()
    assert result.returncode == 0, result.stderr
    return run


@pytest.fixture(scope="module")
def unbroken(finished: Run) -> dict[str, Any]:
    """What it left."""
    return finished.outcome()


# --- killed


def appears(folder: Callable[[], Path], pattern: str) -> Moment:
    """The moment in which a file of this form lies in the folder that was not there before."""
    before = set(names(folder()))
    return lambda: any(re.fullmatch(pattern, name) for name in names(folder()) if name not in before)


def names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def kill_in(process: subprocess.Popen[str], moment: Moment) -> bool:
    """Kill the process in this moment; False if it ended before one could be caught."""
    while process.poll() is None:
        if not moment():
            time.sleep(0.0002)
            continue
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        caught = process.poll() is None and moment()
        process.send_signal(signal.SIGKILL if caught else signal.SIGCONT)
        if caught:
            process.communicate()
            return True
    process.communicate()
    return False


def some_time_after(moment: Moment, seconds: float) -> Moment:
    """So many seconds after the first time that another moment was there."""
    since = []

    def later() -> bool:
        if not since and moment():
            since.append(time.monotonic())
        return bool(since) and time.monotonic() >= since[0] + seconds

    return later


def test_killed_at_random_points_and_in_every_kind_of_write(text, unbroken, tmp_path):
    run, draw = Run(text, tmp_path), random.Random(11)
    for _ in range(2):
        kill_in(
            run.start(),
            some_time_after(appears(lambda: run.state, r"checkpoint-\d+\.safetensors"), 0.2 * draw.random()),
        )
    moments = {
        "tensors of a checkpoint": lambda: appears(lambda: run.state, r"\.checkpoint-\d+\.safetensors\..*"),
        "best weights": lambda: appears(lambda: run.state, r"\.best-\d+\.safetensors\..*"),
        "final state": lambda: appears(lambda: run.finished, r"\.final_state\.safetensors\..*"),
        "weights": lambda: appears(lambda: run.finished, r"\.model\.safetensors\..*"),
    }
    for name, moment in moments.items():
        # a file that exists for milliseconds is not always seen, and a finished run writes nothing
        for _ in range(10):
            if kill_in(run.start(), moment()):
                break
            shutil.rmtree(run.finished)
        else:
            pytest.fail(f"never seen: {name}")
    result = run.finish()
    assert result.returncode == 0, result.stderr
    assert same(run.outcome(), unbroken) == []
    history = (run.model / model_folder.HISTORY).read_text(encoding="utf-8").splitlines()
    seconds = [json.loads(line)["seconds"] for line in history]
    assert seconds == sorted(seconds), "the clock of an earlier part was lost"
    left = [
        name for folder in (run.state, run.finished, run.model) for name in names(folder) if ".part" in name
    ]
    assert not left, "what was half-written goes when it is written again"


# --- twice at once


def wait_for_checkpoint(run: Run, process: subprocess.Popen[str]) -> None:
    begun = appears(lambda: run.state, r"checkpoint-\d+\.safetensors")
    while not begun():
        assert process.poll() is None, ended(process).stderr
        time.sleep(0.001)


@pytest.fixture
def first(text: Path, tmp_path: Path) -> Iterator[tuple[Run, subprocess.Popen[str]]]:
    """A run held still in the middle of its work."""
    run = Run(text, tmp_path)
    process = run.start()
    wait_for_checkpoint(run, process)
    process.send_signal(signal.SIGSTOP)
    yield run, process
    process.kill()
    process.wait()


def waiting(run: Run, holder: int) -> subprocess.Popen[str]:
    """A second process that has said that it waits for the first."""
    second = run.start("--if-locked", "wait")
    assert second.stderr is not None
    line = second.stderr.readline()
    assert line.startswith(f"nmt: {run.state}: process {holder} on ") and line.endswith("waiting for it\n")
    return second


def test_a_second_process_is_refused_or_waits_and_finds_the_run_done(first, unbroken):
    run, process = first
    before = {path.name: path.stat().st_mtime_ns for path in run.state.glob("checkpoint-*")}
    refused = run.finish()
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith(f"error: {run.state}: process {process.pid} on ")
    second = waiting(run, process.pid)
    assert before == {path.name: path.stat().st_mtime_ns for path in run.state.glob("checkpoint-*")}
    process.send_signal(signal.SIGCONT)
    for result in (ended(process), ended(second)):
        assert result.returncode == 0, result.stderr
    assert same(run.outcome(), unbroken) == []


# --- out of time


def test_stopped_in_good_order_again_and_again(text, unbroken, tmp_path):
    """By a signal, then by the clock until all is done: exit code 75 says each time that there is more to do."""
    run = Run(text, tmp_path)
    process = run.start()
    wait_for_checkpoint(run, process)
    process.send_signal(signal.SIGTERM)
    result = ended(process)
    assert result.returncode == MORE_TO_DO, result.stderr
    assert not run.model.exists()
    share = 0.01 * unbroken["seconds"]
    results = []
    while len(results) < UPDATES and (not results or results[-1].returncode == MORE_TO_DO):
        results.append(run.finish("--max-seconds", str(share)))
        share *= 3
    for result in results[:-1]:
        assert re.search(rf"stopped after update \d+ of {UPDATES}; run again", result.stderr)
    assert results[-1].returncode == 0, results[-1].stderr
    assert len(results) > 1
    assert same(run.outcome(), unbroken) == []
