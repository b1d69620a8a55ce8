"""experiments/sutskever2014 is what Sutskever et al. (2014) say."""

from __future__ import annotations

from typing import Any

import pytest

from nmt.config.overlays import find_layers, load
from nmt.config.runs import runs_of
from tests.running import ROOT

PAPER = load(find_layers(ROOT / "config.yaml", ROOT / "experiments" / "sutskever2014"))
FORWARD, REVERSED = PAPER.models["lstm-forward"], PAPER.models["lstm-reversed"]

SETTINGS: dict[str, Any] = {  # Sec. 3.1, 3.2 and 3.4
    "architecture.layers": 4,
    "architecture.hidden_units": 1000,
    "architecture.embedding_size": 1000,
    "architecture.init_range": 0.08,
    "architecture.peepholes": False,
    "architecture.source_end": False,
    "architecture.first_input": "end",
    "training.optimizer": "sgd",
    "training.learning_rate": 0.7,
    "training.decay_from_epoch": 5,
    "training.decay_every_epochs": 0.5,
    "training.decay_factor": 0.5,
    "training.epochs": 7.5,
    "training.batch_size": 128,
    "training.cost": "mean",
    "training.clip_norm": 5,
    "training.order": "seed",
    "training.keep": "last",
    "training.patience": None,
}


@pytest.mark.parametrize("key", SETTINGS)
def test_settings_are_the_papers(key: str) -> None:
    block, _, name = key.partition(".")
    for model in (FORWARD, REVERSED):
        assert getattr(getattr(model, block), name) == SETTINGS[key]
    assert (FORWARD.architecture.source_order, REVERSED.architecture.source_order) == ("forward", "reversed")  # type: ignore[union-attr]
    assert PAPER.vocabulary.sizes == (160_000, 80_000)
    decoding = PAPER.decoding
    assert (decoding.beam, decoding.min_length, decoding.unknown) == (12, "none", "allowed")
    assert not decoding.normalize_by_length
    assert list(PAPER.use.dev) == ["newstest2012", "newstest2013"]


def test_five_runs_differ_in_nothing_but_their_seed() -> None:
    runs = runs_of(PAPER, ["lstm-reversed"])
    assert len(runs) == len({run.seed for run in runs.values()}) == 5


def test_the_updates_are_more_than_the_epochs_take() -> None:
    """12 million pairs (Sec. 3.1)."""
    training = REVERSED.training
    assert training.epochs is not None
    assert training.epochs * 12e6 / training.batch_size <= training.updates
