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

from benchmarks import gpu_check
from benchmarks.decoding.__main__ import contest
from benchmarks.decoding.project import Search
from benchmarks.training import arithmetic, environment, report
from benchmarks.training.contest import Failed, Measured, Remote
from benchmarks.training.sizes import Machine, Sizes
from benchmarks.training.toolkits import Sockeye
from tests.running import ROOT

TINY = Sizes(length=6, batch=5, hidden=12, embedding=7, maxout=5, vocabulary=30, square=32)
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
        remote.ask(do="set up", sizes=vars(TINY), machine={"threads": 1})
        nlls = [remote.ask(do="update", first=0, count=1)["nll"][0] for _ in range(30)]
    finally:
        remote.close()
    assert nlls[0] == pytest.approx(TINY.positions * np.log(TINY.vocabulary), rel=0.1)
    assert nlls[-1] < 0.99 * nlls[0]


def test_ratios_are_of_medians_and_shares_of_the_square_products_rate() -> None:
    sizes = Sizes(length=27)
    # 42.2M multiply-adds a position, the attention, the first state
    gflop = 6 * (80 * 27 * (42_200_000 + 27 * 3000) + 80 * 1e6) / 1e9
    assert arithmetic.gflop("rnnsearch", sizes) == pytest.approx(gflop)

    def measured(*seconds: float) -> Measured:
        return Measured({"parameters": 10}, {"peak_bytes": 1, "peak_gpu_bytes": None}, list(seconds), [1.0])

    found = report.measurements(
        {"rnnsearch": measured(5, 99, 4), "joeynmt": measured(8, 8, 1), "matrix": measured(1.0)}, sizes
    )
    ours, theirs, _ = found
    assert theirs["ratio"] == pytest.approx(8 / 5) and theirs["share_of_matrix_rate"] is None
    assert ours["share_of_matrix_rate"] == pytest.approx(gflop / 5 / (2 * 4096**3 / 1e9))
    assert "| RNNsearch " in report.table(found, sizes)


@pytest.mark.parametrize("precision", ["fp32", "fp32-shortlist"])
def test_no_search_ends_before_its_last_step(precision: str) -> None:
    search = Search(Sizes(0, 3, 8, 6, 4, 40), Machine(threads=1, precision=precision))
    assert search.decode([[5, 6], [7], [8, 9, 10]], beam=4, steps=7) == [7, 7, 7]


def test_a_contender_that_fails_is_left_out_and_the_others_go_on() -> None:
    class Contender:
        def __init__(self, batches: int) -> None:
            self.batches = batches

        def ask(self, **request: object) -> dict[str, float]:
            self.batches -= 1
            if self.batches < 0:
                raise Failed("no memory")
            return {"seconds": 1.0, "peak_bytes": 1.0}

    missing: dict[str, str] = {}
    remotes = cast(dict[str, Remote], {"rnnsearch": Contender(99), "joeynmt": Contender(2)})
    found = contest(remotes, [1, 2, 3], 2, 1, 3, missing)
    assert missing == {"joeynmt": "no memory"}
    assert [(one["contender"], one["seconds"]) for one in found] == [("rnnsearch", 3.0)]


def test_a_toolkit_that_ends_before_its_time_says_why() -> None:
    class Ends(Sockeye):
        def command(self, sizes: Sizes) -> list[object]:
            return ["sh", "-c", "echo no such option >&2"]

    toolkit = Ends("peer", sys.executable, threads=1)
    with pytest.raises(Failed, match="peer: its process ended: no such option"):
        toolkit.ask(do="set up", sizes=vars(TINY))
    toolkit.close()
    assert not toolkit.folder.exists()


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
    options += ["--lengths", "4", "--square=32"] if name == "training" else ["--beams", "2", "--sentences=5"]
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
