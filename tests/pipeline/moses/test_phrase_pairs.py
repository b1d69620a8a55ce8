"""Phrase pairs to learn from, and a phrase table with a model's probability as one more score."""

import math
from pathlib import Path

import pytest
import torch

from nmt.decoding.forced_decoding import score_translations
from nmt.io.text_files import read_lines
from nmt.store import trained_model
from pipeline.moses.phrase_pairs import write_pairs
from pipeline.moses.phrase_scores import add_scores
from pipeline.moses.phrases import count_scores
from tests import translators
from tests.bitexts import write_text

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


def test_pairs_are_split_into_train_and_dev(table, tmp_path):
    names = ["train.en.zst", "train.fr", "dev.en", "dev.fr"]
    files = [tmp_path / name for name in names]
    assert write_pairs(table, 2, (files[0], files[1]), (files[2], files[3])) == (4, 2)
    source, target, *held_out = ([*read_lines(file)] for file in files)
    assert [*zip(source, target, strict=True)] == [PAIRS[index] for index in (0, 1, 3, 4)]
    assert [*zip(*held_out, strict=True)] == [PAIRS[index] for index in (2, 5)]
    assert write_pairs(table, 99, (files[0], files[1]), (files[2], files[3])) == (3, 3), "at most half"


def test_scores_are_model_probabilities(table, tmp_path):
    folder = translators.trained_model(tmp_path / "model", "rnnencdec")
    texts = [tmp_path / "dev.zst", tmp_path / "test"]
    for text, line in zip(texts, ("w3 w4 unseen", "w7 w8"), strict=True):
        write_text(text, [line])
    output = tmp_path / "scored.gz"
    model = trained_model.load_model(folder, torch.device("cpu"))
    add_scores(model, table, texts, output)
    before, after = ([line.split(" ||| ") for line in read_lines(path)] for path in (table, output))
    assert [entry[:2] for entry in after] == [list(pair) for pair in PAIRS[:4]]
    for old, new in zip(before, after, strict=False):
        *others, score = new[2].split()
        assert others == old[2].split() and new[3:] == old[3:]
        (forced,) = score_translations([model], [(new[0].split(), new[1].split())], 1)
        assert math.log(float(score)) == pytest.approx(forced.log_probability, abs=1e-4)
    assert (count_scores(table), count_scores(output)) == (4, 5)
