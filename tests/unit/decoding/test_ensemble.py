"""Ensembles: two models are the average of their probabilities, counted out by hand."""

import numpy as np
import pytest
import torch

from nmt.decoding.ensemble import Ensemble
from tests.small_models import small_model
from tests.unit.decoding.test_beam_search import (
    SOURCES,
    search_n_best,
    word_log_probs,
    word_sequences,
)


@pytest.mark.parametrize("average", ["probability", "log_probability"])
def test_ensemble_averages_probabilities(average):
    """Model types may be mixed; the best of all sequences is found."""
    models = [small_model("rnnsearch"), small_model("rnnencdec")]
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in models[1].parameters():
            weight.normal_(0, 0.7, generator=generator)
    results = search_n_best(Ensemble(models, average), SOURCES, beam=300, max_length_factor=1)
    for source, n_best in zip(SOURCES, results, strict=True):
        sequences, scores = word_sequences(len(source)), []
        for words in sequences:
            log_probs = np.array([word_log_probs(model, source, words) for model in models])
            mean = (
                np.log(np.exp(log_probs).mean(axis=0)) if average == "probability" else log_probs.mean(axis=0)
            )
            scores.append(mean.sum())
        best = int(np.argmax(scores))
        assert n_best[0].ids == sequences[best]
        assert n_best[0].log_probability == pytest.approx(scores[best], rel=1e-9)
