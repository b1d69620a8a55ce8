"""The benchmark of the data pipeline: its texts grow as they should, its notes are of the processes they name."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from benchmarks.data import differences, estimate, grown, tokenizers, workflow
from benchmarks.data.workflow import Run, Used
from tests.bitexts import write_text
from tests.running import ROOT

LINES = [
    f"the house number {line % 50} of w{'abcdefgh'[line % 8]} is x{'q' * (line % 37)}{'z' * line}"
    for line in range(400)
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grown")
    (folder / "text.en").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    with tarfile.open(folder / "text.tgz", "w:gz") as tar:
        tar.add(folder / "text.en", "training/text.en")
    return folder / "text.tgz"


def test_a_grown_text_has_so_many_lines_and_new_words(archive: Path, tmp_path: Path) -> None:
    text = grown.read(archive, "training/text.en")
    assert text.lines == LINES
    assert 0 < text.exponent < 1
    grown.write(tmp_path / "big.tgz", [("a.en", text), ("b.en", text)], 3)
    big = grown.read(tmp_path / "big.tgz", "b.en")
    assert len(big.lines) == 3 * len(LINES)
    assert big.lines[: len(LINES)] == LINES
    types = grown.types(text, 3)
    assert big.types == types["types"]
    assert types["heaps"] == round(text.types * 3**text.exponent)
    assert big.types == pytest.approx(types["heaps"], rel=0.01)


def test_every_process_leaves_a_note(tmp_path: Path) -> None:
    text = write_text(tmp_path / "text.zst", ["a b a"])
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{workflow.USAGE}",
        "NMT_BENCHMARK_USAGE": str(tmp_path),
    }
    command = [sys.executable, "-m", "nmt", "data", "vocabulary", "--words", "5", str(text)]
    subprocess.run([*command, "--output", str(tmp_path / "words.tsv")], env=environment, check=True)
    (used,) = workflow.read_usage(tmp_path)
    assert used.subcommand == "data vocabulary"
    assert 0 < used.processor_seconds < 60
    assert 10 < used.peak_mb < 500


def test_a_stage_takes_its_work_over_the_cores_but_at_least_its_longest_job() -> None:
    used = [
        Used(name, 10.0, 0.0, 0.0, 0.0)
        for name in ("data tokenize", "data tokenize", "data extract", "data binarize", "selection train-lm")
    ]
    run = Run(30.0, used, {"raw": 1000})
    pairs = estimate.PAIRS // 100
    hours = estimate.estimate(run, pairs, 10).hours
    assert hours["data tokenize"] == pytest.approx(20 * 100 / 10 / 3600, rel=1e-3)
    assert hours["data extract"] == pytest.approx(10 * 100 * estimate.LARGEST_SHARE / 3600, rel=1e-3)
    assert hours["data binarize"] == pytest.approx(10 * 100 / 3600, rel=1e-3)
    assert hours["selection train-lm"] == pytest.approx(10 / 10 / 3600)
    assert estimate.disk(run, pairs)["raw"] == pytest.approx(1000 * 100 / 1e9, rel=1e-3)


def test_lines_that_differ_are_written_with_both_tokenizations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "BLOCK", 3)
    lines = ["One.", "It's No. 7.", "", "Two, three.", "Four"]
    for name in ("a.zst", "b.zst"):
        write_text(tmp_path / name, lines)
    other = {
        "sacremoses": tokenizers.stock("en"),
        "spaces": lambda block: [line.replace(",", " ,") for line in block],
    }
    with (tmp_path / "out").open("w") as output:
        texts = [tmp_path / "a.zst", tmp_path / "b.zst"]
        found = differences.compare(texts, tokenizers.ours("en"), other, output)
    assert found == {"lines": 10, "sacremoses": 0, "spaces": 6}
    told = (tmp_path / "out").read_text()
    assert told.count("\n") == 3 * 6
    assert f"{tmp_path}/b.zst, line 4\n  ours: Two , three .\n  spaces: Two , three.\n" in told


def test_tokenizers_race_over_the_same_lines() -> None:
    found = tokenizers.measure(["Hello, world.", "It's No. 7."], "en", 1, None)
    assert found["lines_that_differ"] == {"sacremoses": 0}
    assert found["ratio_sacremoses"] > 0
