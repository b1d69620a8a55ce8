"""Every model type against its equations as plain loops, values and gradients, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.output_layer import Candidates, WordProbabilities
from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from nmt.training.validation import compute_sentence_nlls
from tests.small_models import by_loops, interpretations, small_model

PAIRS = [([3, 5, 2, 8], [4, 2]), ([6], [5, 1, 3, 2, 6]), ([2, 2, 7], [6, 6, 3])]


def batch_of(
    pairs: list[tuple[list[int], list[int]]], source_eos: bool = True, bucket: int | None = None
) -> Batch:
    sources, targets = zip(*pairs, strict=True)
    as_ids = [[np.array(ids, dtype=np.uint16) for ids in side] for side in (sources, targets)]
    return pad_pairs(as_ids[0], as_ids[1], source_eos, bucket)


def nll_by_loops(model: EncoderDecoder, pairs: list[tuple[list[int], list[int]]]) -> torch.Tensor:
    loops, end = by_loops(model), [END] if model.architecture.source_eos else []
    return torch.stack([loops.nll([*source, *end], [*target, END])[0] for source, target in pairs])


CASES = [(model_type, changes) for model_type in MODEL_TYPES for changes in interpretations(model_type)]
EVERY_CASE = pytest.mark.parametrize(
    ("model_type", "changes"),
    CASES,
    ids=["-".join([model_type, *map(str, changes.values())]) for model_type, changes in CASES],
)


@EVERY_CASE
def test_values_and_gradients_follow_the_equations(
    model_type: ModelTypeName, changes: dict[str, Any]
) -> None:
    model = small_model(model_type, **changes)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    expected = nll_by_loops(model, PAIRS)
    gradients = torch.autograd.grad((expected * weights).sum(), list(model.parameters()))
    found = compute_sentence_nlls(model, batch_of(PAIRS, model.architecture.source_eos))
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    (found * weights).sum().backward()
    for (name, parameter), gradient in zip(model.named_parameters(), gradients, strict=True):
        assert gradient.abs().sum() > 0, f"{name} has no share in the result: the test would not see it"
        assert parameter.grad is not None
        torch.testing.assert_close(
            parameter.grad.to_dense(), gradient, rtol=1e-8, atol=1e-10, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_alignment_weights_follow_the_equations() -> None:
    model = small_model("rnnsearch")
    batch = batch_of(PAIRS)
    ((_, found),) = model.unroll(
        model.encode(batch.source, batch.source_lengths), batch.target, len(batch.target)
    )
    assert found is not None
    loops = by_loops(model)
    for column, (source, target) in enumerate(PAIRS):
        _, alphas = loops.nll([*source, END], [*target, END])
        expected = torch.stack(alphas)
        torch.testing.assert_close(found[: len(target) + 1, column, : len(source) + 1], expected)
        assert not found[:, column, len(source) + 1 :].any(), "padding must get no weight"


@EVERY_CASE
@torch.no_grad()
def test_stepwise_decoding_gives_the_same_probabilities(
    model_type: ModelTypeName, changes: dict[str, Any]
) -> None:
    model = small_model(model_type, **changes)
    source, target = PAIRS[1]
    batch = batch_of([PAIRS[1]], model.architecture.source_eos)
    steps, total = model.start_search(model.encode(batch.source, batch.source_lengths)), 0.0
    for word in [*target, END]:
        total -= float(steps.predict().log_probs[0, word].detach())
        steps.reorder_and_append(torch.tensor([[0]]), torch.tensor([[word]]))
    assert total == pytest.approx(float(nll_by_loops(model, [(source, target)])[0].detach()), rel=1e-10)


def test_the_cost_is_the_sum_of_the_equations_with_the_same_gradients(model_type: ModelTypeName) -> None:
    model = small_model(model_type)
    batch = batch_of(PAIRS)
    expected = nll_by_loops(model, PAIRS).sum()
    gradients = torch.autograd.grad(expected, list(model.parameters()))
    found = model.total_nll(batch)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    (3 * found).backward()
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad.to_dense(), 3 * gradient, rtol=1e-8, atol=1e-10)


def test_a_search_has_the_words_of_each_hypothesis_sentence() -> None:
    """Two hypotheses for each of two sentences, of which some have ended, and one sentence then ends."""
    output = small_model("rnnsearch").readout
    candidates = Candidates(
        torch.tensor([2, 4, 5]), torch.tensor([[False, True, False], [True, False, False]])
    )
    words = WordProbabilities(output, 7, candidates)
    features = torch.randn(4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    whole = words.compute_log_probs(features, 2, None)
    exact = (features @ output.W_o + output.b_o)[:, [2, 4, 5]]
    exact[:2, 1] = exact[2:, 0] = -torch.inf
    torch.testing.assert_close(whole, exact.log_softmax(dim=1))
    alive = torch.tensor([1, 2])
    torch.testing.assert_close(words.compute_log_probs(features[alive], 2, alive), whole[alive])
    words.select_sentences(torch.tensor([1]))
    torch.testing.assert_close(words.compute_log_probs(features[2:], 2, None), whole[2:])
