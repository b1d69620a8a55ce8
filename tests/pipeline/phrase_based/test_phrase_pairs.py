"""Phrase pairs to learn from, and a phrase table with a model's probability as one more score."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from nmt.decoding.forced_decoding import score_batch
from nmt.io.text_files import read_lines
from nmt.model import trained_model
from pipeline.phrase_based.phrases import number_of_scores
from tests import translators
from tests.bitexts import write_text
from tests.messages import check
from tests.running import nmt

PAIRS = [
    ("w3", "w4"),
    ("w3", "w4 w5"),
    ("w3 w4", "w5 strange w6"),
    ("w7 w8", "w4"),
    ("w7 w8 w9", "w4 w4 w4"),
    ("w9", "w3"),
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """As Moses' training writes it, its lines' last field empty."""
    lines = (
        f"{source} ||| {target} ||| 0.5 0.1 1 1e-0{number} ||| 0-0 ||| 2 2 1 ||| |||"
        for number, (source, target) in enumerate(PAIRS)
    )
    return write_text(tmp_path / "phrase-table.gz", lines)


def test_each_pair_is_learned_from_once_and_some_are_kept_apart(table: Path, tmp_path: Path) -> None:
    names = ["train.en.zst", "train.fr", "dev.en", "dev.fr"]
    files = [tmp_path / name for name in names]
    outputs = ["--output", *files[:2], "--output-held-out", *files[2:]]
    done = nmt("moses", "phrase-pairs", f"--phrase-table={table}", "--held-out=2", *outputs)
    assert done.returncode == 0, done.stderr
    source, target, *held_out = ([*read_lines(file)] for file in files)
    assert [*zip(source, target, strict=True)] == [PAIRS[place] for place in (0, 1, 3, 4)]
    assert [*zip(*held_out, strict=True)] == [PAIRS[place] for place in (2, 5)]


def test_scores_are_the_models_probabilities_of_the_pairs_that_a_text_may_need(
    table: Path, tmp_path: Path
) -> None:
    folder = translators.trained_model(tmp_path / "model", "rnnencdec")
    texts = [tmp_path / "dev.zst", tmp_path / "test"]
    for text, line in zip(texts, ("w3 w4 unseen", "w7 w8"), strict=True):
        write_text(text, [line])
    output = tmp_path / "scored.gz"
    done = nmt(
        *("moses", "phrase-scores"),
        *(f"--phrase-table={table}", f"--model={folder}", *(f"--text={text}" for text in texts)),
        *("--device=cpu", f"--output={output}"),
    )
    assert done.returncode == 0, done.stderr
    assert "4 of 6 pairs" in done.stderr
    model = trained_model.load(folder, torch.device("cpu"))
    before, after = ([line.split(" ||| ") for line in read_lines(path)] for path in (table, output))
    assert [entry[:2] for entry in after] == [list(pair) for pair in PAIRS[:4]]
    for old, new in zip(before, after, strict=False):
        *others, score = new[2].split()
        assert others == old[2].split() and new[3:] == old[3:]
        (forced,) = score_batch([model], [new[0].split()], [new[1].split()])
        assert math.log(float(score)) == pytest.approx(forced.log_probability, abs=1e-4)
    assert (number_of_scores(table), number_of_scores(output)) == (4, 5)


@pytest.mark.parametrize(
    "lines",
    [[], ["w3 ||| w4"], ["w5 ||| w4 ||| 1 ||| ||| |||"]],
    ids=["empty", "fields", "other text"],
)
def test_a_table_that_is_none_or_of_other_text_is_one_line(tmp_path: Path, lines: list[str]) -> None:
    table, text = write_text(tmp_path / "t.gz", lines), write_text(tmp_path / "text", ["w3 w4"])
    folder = translators.trained_model(tmp_path / "model", "rnnencdec")
    output = tmp_path / "scored.gz"
    options = [f"--phrase-table={table}", f"--model={folder}", f"--text={text}", f"--output={output}"]
    done = nmt("moses", "phrase-scores", *options)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    check(done.stderr.splitlines()[-1])
    assert not output.exists()
