"""Ensembles: one model twice is that model; two are the mean of their probabilities, counted out by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import torch

from nmt.data.vocabulary import END
from nmt.decoding.ensemble import Ensemble
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.decoding import Average
from nmt.settings.model_types import ModelTypeName
from tests.small_models import TARGET_VOCABULARY, small_model
from tests.unit.decoding.test_beam_search import MANY, SOURCES, encode, n_best_of


def another(model_type: ModelTypeName) -> EncoderDecoder:
    """A model with other weights."""
    model = small_model(model_type)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0, 0.7, generator=generator)
    return model


@pytest.mark.parametrize("average", ["probability", "log_probability"])
def test_of_a_model_with_itself_is_the_model(model_type: ModelTypeName, average: Average) -> None:
    model = small_model(model_type)
    options = {"beam": 4, "n_best": 3, "max_length_factor": 3, "if_no_eos": "retry"}
    alone, together = (
        n_best_of(model, MANY, False, **options),
        n_best_of(Ensemble([model] * 3, average), MANY, False, **options),
    )
    for one, other in zip(alone, together, strict=True):
        assert [found.ids for found in one] == [found.ids for found in other]
        assert [found.log_probability for found in one] == pytest.approx(
            [found.log_probability for found in other], rel=1e-12
        )


@torch.no_grad()
def probabilities(model: EncoderDecoder, source: list[int], words: list[int]) -> np.ndarray:
    """p of each word and of the end."""
    steps, found = model.start_search(encode(model, [source])[0]), []
    for word in [*words, END]:
        found.append(float(steps.predict().log_probs[0, word].exp()))
        steps.reorder_and_append(torch.tensor([[0]]), torch.tensor([[word]]))
    return np.array(found)


def log_of_mean(found: list[np.ndarray]) -> float:
    """Of the probabilities of each word by each model."""
    return float(np.log(np.mean(found, axis=0)).sum())


def mean_of_logs(found: list[np.ndarray]) -> float:
    """Of the probabilities of each word by each model."""
    return float(np.mean(np.log(found), axis=0).sum())


@pytest.mark.parametrize(
    ("step_order", "average", "expected"),
    [
        ("groundhog", "probability", log_of_mean),
        ("section3", "probability", log_of_mean),
        ("groundhog", "log_probability", mean_of_logs),
    ],
)
def test_two_models_are_the_mean_of_what_they_say(
    step_order: str, average: Average, expected: Callable[[list[np.ndarray]], float]
) -> None:
    """ModelTypes may be mixed; the best of all sequences is found."""
    models = [small_model("rnnsearch", step_order=step_order), another("rnnencdec")]
    for source, (found, *_) in zip(
        SOURCES,
        n_best_of(Ensemble(models, average), SOURCES, False, beam=300, max_length_factor=1),
        strict=True,
    ):
        sequences = [
            list(words)
            for length in range(len(source) + 1)
            for words in product(range(1, TARGET_VOCABULARY), repeat=length)
        ]
        means = [expected([probabilities(model, source, words) for model in models]) for words in sequences]
        best = int(np.argmax(means))
        assert found.ids == sequences[best]
        assert found.log_probability == pytest.approx(means[best], rel=1e-9)
