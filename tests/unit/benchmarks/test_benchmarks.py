"""The benchmarks: every contender does what its figures say it does, and one that cannot run is left out in a line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from benchmarks import environment, gpu_check
from benchmarks.contest import Contest, Failed, Remote
from benchmarks.marian_contender import Marian
from benchmarks.project import Search
from benchmarks.sockeye_contender import Sockeye
from benchmarks.task import Sizes
from tests.running import ROOT

TINY = Sizes(length=6, batch=5, hidden=12, embedding=7, maxout=5, vocabulary=30, threads=1)
SMALL = {"threads": 1, "rounds": 2, "batch": 3, "hidden": 8, "embedding": 6, "maxout": 4, "vocabulary": 40}
OPTIONS = [f"--{name}={value}" for name, value in SMALL.items()]


def interpreter(name: str) -> str:
    """The one that a contender needs; skips where a peer's has not been made."""
    peer = environment.peer_of(name)
    if peer is None:
        return sys.executable
    folder = ROOT / "benchmarks" / f".{peer}"
    if not (folder / environment.STAMP).is_file():
        pytest.skip(f"{peer}'s environment is not there: `make bench-training bench-decoding` makes it")
    return str(folder / "bin" / "python")


def bench(name: str, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{name}", *OPTIONS, *options]
    found = subprocess.run(
        command, cwd=ROOT, env=os.environ | environ, capture_output=True, text=True, check=False, timeout=300
    )
    assert found.returncode == 0, found.stderr
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["rnnsearch", "joeynmt"])
def test_a_contender_learns_from_all_positions(name: str) -> None:
    remote = Remote(name, interpreter(name), threads=1)
    try:
        remote.ask(do="train", sizes=vars(TINY))
        nlls = [remote.ask(do="update", number=0)["nll"] for _ in range(30)]
    finally:
        remote.close()
    assert nlls[0] == pytest.approx(TINY.batch * TINY.length * np.log(TINY.vocabulary), rel=0.1)
    assert nlls[-1] < 0.99 * nlls[0]


@pytest.mark.parametrize("name", ["rnnsearch", "rnnsearch-fp32-shortlist"])
def test_no_search_ends_before_its_last_step(name: str) -> None:
    search = Search(name, Sizes(0, 3, 8, 6, 4, 40, 1))
    assert search.decode([[5, 6], [7], [8, 9, 10]], beam=4, steps=7) == [7, 7, 7]


def test_a_contender_that_fails_is_left_out_and_ratios_are_of_medians() -> None:
    class Contender:
        def __init__(self, replies: int) -> None:
            self.replies = replies

        def ask(self, **request: object) -> dict[str, float]:
            self.replies -= 1
            if self.replies < 0:
                raise Failed("no memory")
            return {"peak_bytes": 1.0}

    remotes = {"rnnsearch": Contender(9), "joeynmt": Contender(9), "sockeye": Contender(1)}
    contest = Contest(cast(dict[str, Remote], remotes), {})
    assert list(contest.ask(do="train")) == list(remotes)
    assert list(contest.ask(do="update")) == ["rnnsearch", "joeynmt"]
    rounds = [{"rnnsearch": ours, "joeynmt": theirs} for ours, theirs in ((5, 8), (99, 8), (4, 1))]
    found = contest.measurements(rounds, length=3)
    assert [(one["contender"], one["ratio"]) for one in found] == [("rnnsearch", 1), ("joeynmt", 8 / 5)]
    assert contest.missing == {"sockeye": "no memory"}


def test_a_toolkit_that_ends_before_its_time_says_why() -> None:
    class Ends(Sockeye):
        def command(self, sizes: Sizes) -> list[object]:
            return ["sh", "-c", "echo no such option >&2"]

    toolkit = Ends("peer", sys.executable, threads=1)
    with pytest.raises(Failed, match="peer: its process ended: no such option"):
        toolkit.ask(do="train", sizes=vars(TINY))
    toolkit.close()
    assert not toolkit.folder.exists()


def test_without_a_compiler_a_contest_goes_on_without_marian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    contest = Contest({"marian-int8": Marian("marian-int8", sys.executable, threads=1)}, {})
    assert contest.ask(do="search", sizes=vars(TINY)) == {} and "marian-int8" in contest.missing
    contest.close()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "peer"), [("training", "sockeye"), ("decoding", "marian-int8")])
def test_the_whole_contest_without_its_peers(tmp_path: Path, name: str, peer: str) -> None:
    # no index and no wheels: what a machine without a network sees
    options = [
        "--output",
        str(tmp_path / "found.jsonl"),
        "--environments",
        str(tmp_path),
        "--pip-options=--no-index",
    ]
    options += ["--lengths", "4"] if name == "training" else ["--beams", "2", "--sentences=5"]
    result = bench(
        name,
        *options,
        "--contenders",
        "rnnsearch",
        "joeynmt",
        peer,
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
    )
    assert "Without joeynmt: " in result.stdout and f"Without {peer}: " in result.stdout
    ours = lines(tmp_path / "found.jsonl")[0]
    assert ours["contender"] == "rnnsearch" and ours["ratio"] == 1 and len(ours["seconds_of_rounds"]) == 2
    assert ours["processor"] and ours["torch"] and ours["code"] and ours["threads"] == 1


@pytest.mark.slow
def test_a_processor_stands_in_for_a_gpu_at_tiny_sizes(tmp_path: Path) -> None:
    output = tmp_path / "found.jsonl"
    assert gpu_check.main(["--device", "cpu", "--tiny", "--output", str(output)]) == 0
    found = {one["check"]: one for one in lines(output)}
    assert list(found) == list(gpu_check.CHECKS) and {one["result"] for one in found.values()} == {"passed"}
    assert 0 < found["gradients"]["figures"]["rnnsearch bf16 torch"] < 0.1


def test_a_check_that_fails_is_in_the_report_and_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gpu_check.LIMITS, "fp32", 0.0)
    options = ["--device", "cpu", "--tiny", "--only", "gradients", "--output", str(tmp_path / "found.jsonl")]
    assert gpu_check.main(options) == 1
    assert lines(tmp_path / "found.jsonl")[0]["result"] == "failed"
