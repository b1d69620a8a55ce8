"""Scores of given translations: blocks of steps, ensembles, and numbers that are none."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nmt.decoding import forced_decoding
from nmt.decoding.forced_decoding import score_translations
from nmt.store.trained_model import TrainedModel, load_model
from tests.messages import refused
from tests.translators import trained_model

CPU = torch.device("cpu")


@pytest.fixture
def model(tmp_path: Path) -> TrainedModel:
    return load_model(trained_model(tmp_path), CPU)


def test_infinite_scores_are_refused(model):
    """Finite weights, but so large that what the model computes is not."""
    with torch.no_grad():
        for weight in model.network.parameters():
            weight *= 1e30
    with refused():
        score_translations([model], [(["w3", "w4"], ["w5"])], 2)


def test_blocks_of_steps_change_nothing(model, monkeypatch):
    """With attention or without."""
    pairs = [(["w3", "w4", "w9"], ["w5", "w6"] * 9), (["w2"], ["w3"] * 4), ([], [])]
    expected = score_translations([model], pairs, 4)
    monkeypatch.setattr(forced_decoding, "STEPS_PER_BLOCK", 5)
    for attention in (True, False):
        for scores, other in zip(score_translations([model], pairs, 4, attention), expected, strict=True):
            assert scores.word_log_probabilities == pytest.approx(other.word_log_probabilities, abs=1e-5)
            assert (scores.attention is not None) == attention
            if scores.attention is not None and other.attention is not None:
                assert np.allclose(scores.attention, other.attention, atol=1e-5)


def test_ensemble_has_mean_probabilities_and_attention(model, tmp_path):
    other_model = load_model(trained_model(tmp_path / "other", seed=6), CPU)
    pairs = [(["w3", "w4"], ["w5"]), (["w9"], ["w3", "odd", "w4"]), ([], []), (["w2"], [])]
    members = [score_translations([member], pairs, 2) for member in (model, other_model)]
    ensemble, geometric = (
        score_translations([model, other_model], pairs, 2, average=average)
        for average in ("probability", "log_probability")
    )
    for scores, geometric_scores, *member_scores in zip(ensemble, geometric, *members, strict=True):
        log_probs = np.array([member.word_log_probabilities for member in member_scores])
        assert np.exp(scores.word_log_probabilities) == pytest.approx(np.exp(log_probs).mean(axis=0))
        assert geometric_scores.word_log_probabilities == pytest.approx(log_probs.mean(axis=0))
        attention = np.array([member.attention for member in member_scores]).mean(axis=0)
        assert scores.attention == pytest.approx(attention, abs=1e-6)
    assert [len(scores.word_log_probabilities) for scores in ensemble] == [2, 4, 1, 1]
