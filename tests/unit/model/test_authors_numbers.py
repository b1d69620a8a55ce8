"""The models against numbers of the authors' own code: log p and gradients, at the precision of its 32 bits."""

import pytest
import torch

from nmt.training.validation import compute_sentence_nlls
from tests.authors_numbers import (
    MODELS,
    build_same_model,
    build_same_reference,
    list_pairs,
    load_numbers,
    relative_difference,
    take,
)
from tests.unit.model.test_encoder_decoder import batch_of

EVERY_MODEL = pytest.mark.parametrize(("model_type", "output_layer"), MODELS)
PRECISION = 1e-5
"""Largest relative difference. On one processor, it was 2e-6 for W_a in 32 bits, and 1e-6 or less for all others."""


@EVERY_MODEL
def test_reference_is_the_authors(model_type, output_layer):
    numbers = load_numbers(model_type, output_layer)
    loops = build_same_reference(numbers, model_type, output_layer)
    nlls = torch.stack([loops.nll(source, target)[0] for source, target in list_pairs(numbers)])
    assert relative_difference(-nlls.detach(), torch.from_numpy(numbers["log_p"])) < PRECISION
    nlls.sum().backward()
    for name, gradient in take(numbers, "gradient", model_type, output_layer).items():
        assert relative_difference(loops.weights[name].grad, gradient) < PRECISION, name


@EVERY_MODEL
def test_fast_model_is_the_authors(model_type, output_layer):
    numbers = load_numbers(model_type, output_layer)
    model = build_same_model(numbers, model_type, output_layer)
    batch = batch_of([(source[:-1], target[:-1]) for source, target in list_pairs(numbers)])
    nlls = compute_sentence_nlls(model, batch)
    assert relative_difference(-nlls.detach(), torch.from_numpy(numbers["log_p"])) < PRECISION
    model.total_nll(batch).backward()
    gradients = take(numbers, "gradient", model_type, output_layer)
    for name, weight in model.named_parameters():
        assert relative_difference(weight.grad.to_dense(), gradients[name]) < PRECISION, name
