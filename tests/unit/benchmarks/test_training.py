"""The benchmark of training updates: every contender does what its figures say it does."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nmt
from benchmarks.training import arithmetic, environment, memory, report
from benchmarks.training.arithmetic import Arithmetic
from benchmarks.training.contest import Failed, Measured, Remote
from benchmarks.training.sentences import SPECIALS, draw
from benchmarks.training.sizes import Machine, Sizes
from benchmarks.training.toolkits import Toolkit
from benchmarks.training.worker import Worker, make
from nmt.model.precision import set_precision
from tests.running import ROOT

TINY = Sizes(length=6, batch=5, hidden=12, embedding=7, maxout=5, vocabulary=30, square=32)
MACHINE = Machine(threads=1)
OURS = ("rnnsearch", "rnnencdec", "grconv")
SMALL = {
    "threads": 1,
    "rounds": 2,
    "batch": 3,
    "hidden": 8,
    "embedding": 6,
    "maxout": 4,
    "vocabulary": 20,
    "square": 32,
}
OPTIONS = [f"--{name}={value}" for name, value in SMALL.items()]


def interpreter(name: str) -> str:
    """The one that a contender needs; skips where a peer's has not been made."""
    peer = environment.peer_of(name)
    if peer is None:
        return sys.executable
    folder = ROOT / "benchmarks" / f".{peer}"
    if not (folder / environment.STAMP).is_file():
        pytest.skip(f"{peer}'s environment is not there: `make bench-training` makes it")
    return str(folder / "bin" / "python")


def bench(*options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.training", *OPTIONS, *options],
        cwd=ROOT,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


# The contenders ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*OURS, "joeynmt"])
def test_a_contender_learns_and_counts_its_weights(name: str) -> None:
    remote = Remote(name, interpreter(name), threads=1)
    try:
        ready = remote.ask(do="set up", sizes=vars(TINY), machine=vars(MACHINE))
        assert ready["parameters"] == parameters(name, TINY)
        nlls = [remote.ask(do="update", first=0, count=1)["nll"][0] for _ in range(30)]
        used = remote.ask(do="memory")
    finally:
        remote.close()
    assert nlls[0] == pytest.approx(TINY.positions * np.log(TINY.vocabulary), rel=0.1)
    assert nlls[-1] < 0.99 * nlls[0]
    assert used["peak_bytes"] >= ready["resident_bytes"] > 1e7


def parameters(name: str, sizes: Sizes) -> int:
    """Counted by hand from the equations and, for JoeyNMT, from its layers."""
    n, m, maxout, words = sizes.hidden, sizes.embedding, sizes.maxout, sizes.vocabulary
    if name == "joeynmt":
        encoder = 2 * (3 * n * (m + n) + 6 * n)
        decoder = 3 * n * (m + n + n) + 6 * n + 2 * n * n + n
        attention = 2 * n * n + n * n + n
        return 2 * words * m + encoder + decoder + attention + 3 * n * n + n + n * words
    if name == "grconv":
        n, maxout = 2 * n, 2 * maxout
        tree = m * n + n + 2 * n * n + n + 2 * 3 * n + 3
        decoder = 3 * n * (m + n) + n + 3 * n * n + n * n + n
        readout = (n + m + n + 1) * 2 * maxout + maxout * words + words
        return 2 * (words * m + m) + tree + decoder + readout
    wide = n if name == "rnnencdec" else 2 * n
    unit = 3 * n * (m + n) + n
    encoder = unit * (1 if name == "rnnencdec" else 2)
    decoder = unit + 3 * wide * n + n * n + n
    alignment = 0 if name == "rnnencdec" else n * n + wide * n + n
    readout = (n + m + wide + 1) * 2 * maxout + maxout * words + words
    return 2 * (words * m + m) + encoder + decoder + alignment + readout


@pytest.mark.parametrize("name", OURS)
def test_a_contender_learns_in_16_bits_too(name: str) -> None:
    def learn(precision: str) -> list[float]:
        contender = make(name, TINY, Machine(threads=1, precision=precision))
        batch = contender.batch(*draw(TINY, 0))
        return [float(contender.update(batch)) for _ in range(20)]

    exact, rounded = learn("fp32"), learn("bf16")
    set_precision("fp32")
    assert rounded != exact
    assert rounded == pytest.approx(exact, rel=0.01)


def test_every_contender_gets_the_same_positions() -> None:
    source, target = draw(TINY, update=3)
    for name in OURS:
        batch = make(name, TINY, MACHINE).batch(source, target)
        for side, words in zip((batch.source, batch.target), (source, target), strict=True):
            assert side.shape == (TINY.length, TINY.batch)
            assert (side[:-1].numpy() == words.T).all()
            assert (side[-1] < SPECIALS).all()


# The text ------------------------------------------------------------------------------------------------------------


def test_text_is_the_same_for_all_but_not_for_every_update() -> None:
    paper = Sizes(length=30)
    source, target = draw(paper, update=5)
    assert source.shape == target.shape == (80, 29)
    assert source.min() >= SPECIALS and source.max() < paper.vocabulary
    assert all((one == other).all() for one, other in zip(draw(paper, 5), (source, target), strict=True))
    assert not (draw(paper, update=6)[0] == source).all()
    # Zipf's law: the first rank's share among 29,996 is 1 / 10.9, and a batch holds words by the hundred
    assert (source == SPECIALS).mean() == pytest.approx(0.092, abs=0.02)
    assert 800 < len(np.unique(source)) < 1500


# What is counted -----------------------------------------------------------------------------------------------------


def test_multiply_adds_of_a_position_at_the_papers_sizes() -> None:
    paper = Sizes(length=30)
    assert arithmetic.rnnsearch(paper).position == 42_200_000
    assert arithmetic.joeynmt(paper).position == 53_580_000
    assert arithmetic.sockeye(paper).position == 45_220_000
    assert arithmetic.marian(paper).position == 50_424_400
    # RNNencdec: one unit reads (4.86M), one writes (4.86M), readout 1.62M, output layer 15M
    assert arithmetic.rnnencdec(paper).position == 26_340_000
    # grConv: 14.5 nodes of 8.012M above each word, which costs 1.24M; then twice the units write (15.72M, 5.24M, 30M)
    assert arithmetic.grconv(paper).position == 1_240_000 + 116_174_000 + 50_960_000


def test_an_update_at_27_positions_is_547_gflop_and_the_attention() -> None:
    sizes = Sizes(length=27)
    attention = 80 * 27 * 27 * 3000 * 6 / 1e9
    start = 80 * 1e6 * 6 / 1e9
    assert arithmetic.rnnsearch(sizes).gflop(sizes) == pytest.approx(547 + attention + start, abs=0.5)


# The report ----------------------------------------------------------------------------------------------------------


def measured(seconds: list[float], peak: int, **set_up: object) -> Measured:
    ready = {"parameters": 10, "multiply_adds": None, "resident_bytes": 5, "torch": "2", "gpu": None} | set_up
    return Measured(ready, {"peak_bytes": peak, "peak_gpu_bytes": None}, seconds, [1.0], [1.0])


def test_ratios_are_of_medians_and_shares_of_the_square_products_rate() -> None:
    sizes = Sizes(length=30)
    ours, theirs = arithmetic.rnnsearch(sizes).gflop(sizes), arithmetic.joeynmt(sizes).gflop(sizes)
    found = report.figures(
        {
            "rnnsearch": measured([5.0, 99.0, 4.0], 1000),
            "joeynmt": measured([8.0, 8.0, 1.0], 1500),
            "rnnencdec": measured([10.0], 3000),
            "matrix": measured([1.0], 10, multiply_adds=100e9),
        },
        sizes,
    )
    ratios = found["ratios"]["joeynmt"]
    assert ratios["time"] == pytest.approx(8 / 5)
    assert ratios["arithmetic"] == pytest.approx(theirs / ours)
    assert ratios["time per multiply-add"] == pytest.approx(8 / 5 * ours / theirs)
    assert ratios["peak memory"] == pytest.approx(1.5)
    assert found["ratios"]["rnnencdec"]["time"] == pytest.approx(2)
    shares = {name: figures["share_of_matrix_rate"] for name, figures in found["contenders"].items()}
    assert shares["rnnsearch"] == pytest.approx(ours / 5 / 200)
    assert shares["joeynmt"] == pytest.approx(theirs / 8 / 200)
    assert found["contenders"]["rnnsearch"]["target_words_per_second"] == pytest.approx(80 * 29 / 5)
    shown = report.table(found).splitlines()
    cells = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in shown}
    assert cells[""] == ["RNNsearch", "RNNencdec", "JoeyNMT 2.3.0"]
    assert cells["time / RNNsearch's"] == ["1.00x", "2.00x", "1.60x"]
    assert cells["arithmetic / RNNsearch's"] == ["1.00x", "0.63x", "1.27x"]
    assert cells["of them in the output layer"] == ["15.0M", "15.0M", "30.0M"]
    assert "peak GPU memory" not in cells
    assert len({len(line) for line in shown}) == 1


@pytest.mark.slow
def test_the_whole_contest_without_its_peer(tmp_path: Path) -> None:
    output = tmp_path / "training.json"
    # no index and no wheels: what a machine without a network sees
    options = ("--output", str(output), "--environments", str(tmp_path), "--pip-options=--no-index")
    peers = ("joeynmt", "sockeye", "marian-intel")
    contenders = ("rnnsearch", "rnnencdec", *peers)
    result = bench(
        "--lengths", "4", "--contenders", *contenders, *options, PIP_CONFIG_FILE=os.devnull, PIP_FIND_LINKS=""
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(output.read_text(encoding="utf-8"))
    for name in peers:
        assert f"Going on without {name}: " in result.stderr and f"Without {name}: " in result.stdout
        assert name in found["missing"]
        assert not (tmp_path / f".{environment.peer_of(name)}" / environment.STAMP).exists()
    assert found["machine"]["processor"] and found["machine"]["torch"] and found["machine"]["threads"] == 1
    assert found["machine"]["code"].startswith(nmt.__version__)
    assert list(found["lengths"]) == ["4"]
    for length in found["lengths"].values():
        assert list(length["ratios"]) == ["rnnsearch", "rnnencdec"]
        assert length["ratios"]["rnnencdec"]["time"] > 0
        assert list(length["contenders"]) == ["rnnsearch", "rnnencdec"]
        for contender in length["contenders"].values():
            assert len(contender["seconds_of_rounds"]) == 2
            assert 0 < contender["processors"] < 1.5
            assert np.isfinite(contender["nll_of_updates"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("peer", ["joeynmt", "sockeye", "marian-intel"])
def test_the_whole_contest_with_a_peer(tmp_path: Path, peer: str) -> None:
    interpreter(peer)
    output = tmp_path / "training.json"
    result = bench("--lengths", "4", "6", "--output", str(output), "--contenders", "rnnsearch", peer)
    assert result.returncode == 0, result.stderr
    found = json.loads(output.read_text(encoding="utf-8"))
    assert not found["missing"]
    assert list(found["lengths"]) == ["4", "6"]
    assert all(length["ratios"][peer]["time"] > 0 for length in found["lengths"].values())
    assert f"| {report.LABELS[peer]}" in result.stdout


def test_joeynmt_runs_the_projects_torch() -> None:
    python = interpreter("joeynmt")
    code = "import torch, joeynmt, importlib.metadata as m; print(torch.__file__, m.version('joeynmt'))"
    result = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    specification = importlib.util.find_spec("torch")
    assert specification is not None
    assert result.stdout.split() == [specification.origin, "2.3.0"]


# Processes -----------------------------------------------------------------------------------------------------------


def test_a_contender_that_dies_is_said_so() -> None:
    remote = Remote("no such contender", sys.executable, threads=1)
    try:
        with pytest.raises(Failed, match="no such contender: its process ended with code 1"):
            remote.ask(do="set up", sizes=vars(TINY), machine=vars(MACHINE))
    finally:
        remote.close()


def test_a_waiting_contender_uses_no_processor() -> None:
    psutil = pytest.importorskip("psutil")
    remote = Remote("rnnsearch", sys.executable, threads=2)
    try:
        remote.ask(do="set up", sizes=vars(TINY), machine={"device": "cpu", "threads": 2})
        remote.ask(do="update", first=0, count=3)
        process = psutil.Process(remote.process.pid)
        psutil.cpu_percent(interval=0.2)  # whatever threads still spin after their last work
        before = process.cpu_times()
        psutil.cpu_percent(interval=1.0)
        after = process.cpu_times()
    finally:
        remote.close()
    assert (after.user + after.system) - (before.user + before.system) < 0.1


def test_a_peak_is_this_programs_own() -> None:
    """A child of a large process starts anew: getrusage alone would give it its parent's peak."""
    pytest.importorskip("resource")
    if not memory.STATUS.exists():
        pytest.skip("no /proc here")
    code = (
        "import subprocess, sys; held = b'x' * 400_000_000; "
        "child = 'from benchmarks.training import memory; print(memory.peak())'; "
        "print(subprocess.run([sys.executable, '-c', child], capture_output=True, text=True).stdout)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert 1e6 < int(result.stdout) < 200e6


def test_a_worker_answers_about_products() -> None:
    worker = Worker("matrix")
    ready = worker.answer({"do": "set up", "sizes": vars(TINY), "machine": vars(MACHINE)})
    assert ready["multiply_adds"] == 32**3
    assert worker.answer({"do": "update", "first": 0, "count": 2})["seconds"] > 0


def test_arithmetic_adds_up() -> None:
    counted = Arithmetic(encoder=1, keys=2, recurrence=3, readout=4, output=5, attention=10, sentence=100)
    assert counted.position == 15
    assert counted.update(Sizes(length=2, batch=3)) == 3 * (3 * 2 * (15 + 10 * 2) + 3 * 100)


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("kill -KILL $$", r"was killed: too little memory\?"),
        ("echo no such option >&2", "ended: no such option"),
    ],
)
def test_a_toolkit_that_ends_before_its_time_says_why(ending: str, said: str) -> None:
    class Ends(Toolkit):
        def command(self, sizes: Sizes) -> list[object]:
            return ["sh", "-c", ending]

    toolkit = Ends("peer", sys.executable, threads=1)
    with pytest.raises(Failed, match=f"peer: its process {said}"):
        toolkit.ask(do="set up", sizes=vars(TINY))
    toolkit.close()
    assert not toolkit.folder.exists()
