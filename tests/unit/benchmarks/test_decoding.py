"""The decoding benchmark: both sides get the same sentences, and the project's side decodes as far as it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import yaml

from benchmarks.decoding import newstest
from benchmarks.decoding.__main__ import contest, lengths_of, parse
from benchmarks.decoding.project import Search
from benchmarks.decoding.worker import draw
from benchmarks.training.__main__ import published
from benchmarks.training.contest import Failed, Remote
from benchmarks.training.sizes import Machine, Sizes
from tests.running import MIRROR, ROOT

SMALL = {"hidden": 8, "embedding": 6, "maxout": 4, "vocabulary": 40}


def test_sentences_have_their_lengths_and_are_drawn_once() -> None:
    drawn = draw([3, 1, 9], 40, 2)
    assert [len(words) for words in drawn] == [3, 1, 9]
    assert drawn == draw([3, 1, 9], 40, 2) != draw([3, 1, 9], 40, 3)
    assert all(4 <= word < 40 for words in drawn for word in words)


def test_lengths_are_a_texts_or_like_newstest(tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("a b\n\nc d e\nf\n", encoding="utf-8")
    assert lengths_of(tmp_path / "text.en", 3)[0] == [2, 1, 3]
    lengths, said = lengths_of(None, 300)
    assert 20 < np.mean(lengths) < 26 and "generated" in said


def test_the_text_is_the_runs_or_made_by_the_workflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def failing(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(newstest.subprocess, "run", failing)
    arguments = (tmp_path / "own", [tmp_path / "mirror"], tmp_path)
    with pytest.raises(newstest.Unavailable, match=r"--mirrors.*--drawn"):
        newstest.ensure(*arguments)
    assert calls[0][-1] == str(newstest.TOKENS) and str(tmp_path / "own") in calls[0]
    config = yaml.safe_load((tmp_path / "own" / "config.yaml").read_text(encoding="utf-8"))
    assert config["mirrors"] == [str(tmp_path / "mirror")]
    assert newstest.overlay([]) == {}
    for place in (tmp_path / "own", tmp_path):
        (place / newstest.TOKENS).parent.mkdir(parents=True)
        (place / newstest.TOKENS).touch()
        assert newstest.ensure(*arguments) == place / newstest.TOKENS
    assert len(calls) == 1


@pytest.mark.skipif(not MIRROR.is_dir(), reason=f"no mirror of the archives at {MIRROR}")
def test_the_workflow_makes_newstest2014(tmp_path: Path) -> None:
    found = newstest.ensure(tmp_path / "own", [MIRROR], tmp_path)
    lengths, text = lengths_of(found, 300)
    assert sum(lengths) == 6708 and "newstest2014" in text


def test_published_figures_are_those_on_newstest2014(tmp_path: Path) -> None:
    assert parse([]).output == published("decoding", False)
    assert parse(["--busy"]).output.name == "decoding_busy.json"
    for option in (["--drawn"], ["--source", "text.en"]):
        with pytest.raises(SystemExit):
            parse(option)
        assert parse([*option, "--output", str(tmp_path)]).output == tmp_path


@pytest.mark.parametrize("precision", ["fp32", "fp32-shortlist"])
def test_nothing_ends_before_its_last_step(precision: str) -> None:
    search = Search(Sizes(0, 3, **SMALL), Machine(threads=1, precision=precision))
    assert search.decode([[5, 6], [7], [8, 9, 10]], beam=4, steps=7) == [7, 7, 7]


def test_a_worker_answers() -> None:
    sizes = {"length": 0, "batch": 2} | SMALL
    requests = [
        {"do": "set up", "sizes": sizes, "machine": {"threads": 1}},
        {"do": "decode", "lengths": [2, 4], "beam": 3, "number": 0},
    ]
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.decoding.worker", "rnnsearch"],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    made, decoded = map(json.loads, found.stdout.splitlines())
    assert made["parameters"] > 0
    assert decoded["steps"] == 5 and decoded["seconds"] > 0


def test_a_contender_that_fails_is_left_out_and_the_others_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    class Contender:
        def __init__(self, batches: int) -> None:
            self.batches = batches

        def ask(self, **request: object) -> dict[str, float]:
            self.batches -= 1
            if self.batches < 0:
                raise Failed("no memory")
            return {"seconds": 1.0, "peak_bytes": 1.0}

    missing: dict[str, str] = {}
    remotes = {"rnnsearch": Contender(99), "joeynmt": Contender(2)}
    found = contest(cast(dict[str, Remote], remotes), [1, 2, 3], 2, Sizes(0, 1, 8, 6, 4, 40), 3, missing)
    assert missing == {"joeynmt": "no memory"}
    assert list(found) == ["rnnsearch"] and found["rnnsearch"]["seconds"] == 3.0
    assert "no memory" in capsys.readouterr().err
