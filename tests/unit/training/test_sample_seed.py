"""Runs that differ in the seed of their start values are measured on the same training pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.data.bitext import Bitext
from nmt.training.trainer import Trainer
from tests.bitexts import write_bitext
from tests.training_settings import model_run

SIZES = (32, 32)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    """Pairs of very different lengths, so that another sample has another NLL."""
    pairs = [([2 + i % 29] * (1 + i % 11), [2 + i % 29] * (1 + i % 11)) for i in range(120)]
    return write_bitext(tmp_path_factory.mktemp("text"), pairs)


def train_nll(text: Bitext, folder: Path, seed: int, sample_seed: int | None) -> float:
    """Of the start values of seed 5, on the sample that a run with these seeds draws."""
    runs = [model_run().model_copy(update={"seed": s, "sample_seed": sample_seed}) for s in (5, seed)]
    same_weights, made = (Trainer(run, text, text, SIZES, folder) for run in runs)
    made.model.load_state_dict(same_weights.model.state_dict())
    return made.train_nll()


def test_the_sample_follows_the_seed_of_the_data(text: Bitext, tmp_path: Path) -> None:
    assert train_nll(text, tmp_path, 6, sample_seed=1) == train_nll(text, tmp_path, 7, sample_seed=1)
    assert train_nll(text, tmp_path, 6, sample_seed=1) != train_nll(text, tmp_path, 6, sample_seed=2)
    assert train_nll(text, tmp_path, 6, sample_seed=None) == train_nll(text, tmp_path, 7, sample_seed=6)
