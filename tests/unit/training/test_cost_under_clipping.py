"""Sum or mean before clipping: one reading where both are clipped, two where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.data.bitext import Bitext
from nmt.training.trainer import Trainer
from tests.bitexts import write_bitext
from tests.training_settings import model_run

SIZES = (32, 32)
UPDATES = 12


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    pairs = [([2 + i % 29, 3 + i % 7], [2 + (i + 1) % 29, 3 + i % 5]) for i in range(60)]
    return write_bitext(tmp_path_factory.mktemp("text"), pairs)


def change(text: Bitext, folder: Path, cost: str, clip_norm: float) -> torch.Tensor:
    """What Adadelta adds to all weights in a few updates."""
    made = Trainer(
        model_run(cost=cost, clip_norm=clip_norm, updates=UPDATES), text, text, SIZES, folder / cost
    )
    made.resume(None)
    before = [weight.detach().clone() for weight in made.model.parameters()]
    made.run()
    clipped = [line["clipped"] for line in made.history.records() if "clipped" in line]
    assert set(clipped) == ({1.0} if clip_norm < 1 else {0.0})
    return torch.cat(
        [(w.detach() - b).flatten() for w, b in zip(made.model.parameters(), before, strict=True)]
    )


def distance(text: Bitext, folder: Path, clip_norm: float) -> float:
    """How far sum and mean lead apart, as a share of the way."""
    ways = [change(text, folder, cost, clip_norm) for cost in ("sum", "mean")]
    return float((ways[0] - ways[1]).norm() / ways[0].norm())


def test_clipped_at_every_update_sum_and_mean_are_one_reading(text: Bitext, tmp_path: Path) -> None:
    assert distance(text, tmp_path, clip_norm=0.01) < 1e-3


def test_clipped_at_none_they_are_two_for_adadelta(text: Bitext, tmp_path: Path) -> None:
    assert distance(text, tmp_path, clip_norm=1e6) > 0.1
