"""The benchmarks: every contender does what its figures say it does, and one that cannot run is left out in a line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import environment, gpu_check
from benchmarks.contest import Contender, ContenderFailed, Contest
from benchmarks.task import Sizes
from tests.running import ROOT, run_python

TINY = Sizes(length=6, batch=5, hidden=12, embedding=7, maxout=5, vocabulary=30, threads=1)
SMALL = {"threads": 1, "rounds": 2, "batch": 3, "hidden": 8, "embedding": 6, "maxout": 4, "vocabulary": 40}


def find_interpreter(name: str) -> str:
    """Return the interpreter of a contender; skip the test if a peer's environment has not been made."""
    peer = environment.find_peer(name)
    if peer is None:
        return sys.executable
    folder = ROOT / "benchmarks" / f".{peer}"
    if not (folder / environment.STAMP).is_file():
        pytest.skip(f"{peer}'s environment is not there: `make bench-training bench-decoding` makes it")
    return str(folder / "bin" / "python")


def read_measurements(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["rnnsearch", "joeynmt"])
def test_contender_learns_from_all_positions(name):
    contender = Contender(name, find_interpreter(name), threads=1)
    try:
        contender.ask(do="train", sizes=vars(TINY))
        nlls = [contender.ask(do="update", number=0)["nll"] for _ in range(30)]
    finally:
        contender.close()
    assert nlls[0] == pytest.approx(TINY.batch * TINY.length * np.log(TINY.vocabulary), rel=0.1)
    assert nlls[-1] < 0.99 * nlls[0]


def test_failed_contender_is_left_out_and_ratios_are_of_medians():
    class FakeContender:
        def __init__(self, reply_count: int) -> None:
            self.reply_count = reply_count

        def ask(self, **request: object) -> dict[str, float]:
            self.reply_count -= 1
            if self.reply_count < 0:
                raise ContenderFailed("no memory")
            return {"peak_bytes": 1.0}

    contenders = {"rnnsearch": FakeContender(9), "joeynmt": FakeContender(9), "sockeye": FakeContender(1)}
    contest = Contest(contenders, {})
    assert list(contest.ask_all(do="train")) == list(contenders)
    assert list(contest.ask_all(do="update")) == ["rnnsearch", "joeynmt"]
    rounds = [
        {"rnnsearch": 5, "joeynmt": 8},
        {"rnnsearch": 99, "joeynmt": 8},
        {"rnnsearch": 4, "joeynmt": 1},
    ]
    ratios = {row["contender"]: row["ratio"] for row in contest.summarize_rounds(rounds, length=3)}
    assert ratios == {"rnnsearch": 1, "joeynmt": 8 / 5}
    assert contest.missing_reasons == {"sockeye": "no memory"}


def test_peers_have_no_variables_of_nmt():
    program = (
        "import os, benchmarks.decoding, benchmarks.contest as c; print(os.environ.keys() - c.ENVIRONMENT)"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True)
    assert "ONEDNN_PRIMITIVE_CACHE_CAPACITY" in result.stdout, result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "peer", "options"),
    [
        ("training", "sockeye", ["--lengths=4"]),
        ("decoding", "marian-int8", ["--beams=2", "--sentences=5"]),
    ],
)
def test_contest_without_peers(tmp_path, name, peer, options):
    output = tmp_path / "measurements.jsonl"
    sizes = [f"--{option}={value}" for option, value in SMALL.items()]
    arguments = [*sizes, *options, f"--output={output}", "--contenders", "rnnsearch", "joeynmt", peer]
    # no index and no wheels: what a machine without a network sees
    arguments += [f"--environments={tmp_path}", "--pip-options=--no-index"]
    variables = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    result = run_python("-m", f"benchmarks.{name}", *arguments, env=variables, check=True)
    assert "Without joeynmt: " in result.stdout and f"Without {peer}: " in result.stdout
    measurement = read_measurements(output)[0]
    assert measurement["contender"] == "rnnsearch" and measurement["ratio"] == 1
    assert len(measurement["seconds_of_rounds"]) == 2
    assert measurement["processor"] and measurement["torch"] and measurement["code"]


@pytest.mark.slow
def test_gpu_check_passes_on_processor(tmp_path):
    output = tmp_path / "checks.jsonl"
    assert gpu_check.main(["--device", "cpu", "--tiny", "--output", str(output)]) == 0
    checks = {measurement["check"]: measurement for measurement in read_measurements(output)}
    assert list(checks) == list(gpu_check.CHECKS)
    assert {measurement["result"] for measurement in checks.values()} == {"passed"}
    assert 0 < checks["gradients"]["figures"]["rnnsearch bf16 torch"] < 0.1


def test_gpu_check_reports_failure(tmp_path, monkeypatch):
    monkeypatch.setitem(gpu_check.MAX_DISTANCES, "fp32", 0.0)
    output = tmp_path / "checks.jsonl"
    options = ["--device", "cpu", "--tiny", "--only", "gradients", "--output", str(output)]
    assert gpu_check.main(options) == 1
    assert read_measurements(output)[0]["result"] == "failed"
