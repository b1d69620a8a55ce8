"""Every model type against its equations as plain loops, values and gradients, in float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.data.batches import Batch, pad_pairs
from nmt.data.vocabulary import END
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import MODEL_TYPES
from nmt.training.validation import compute_sentence_nlls
from tests.small_models import by_loops, interpretations, small_model

Pairs = list[tuple[list[int], list[int]]]

PAIRS: Pairs = [([3, 5, 2, 8], [4, 2]), ([6], [5, 1, 3, 2, 6]), ([2, 2, 7], [6, 6, 3])]
CASES = [(model_type, changes) for model_type in MODEL_TYPES for changes in interpretations(model_type)]
EVERY_CASE = pytest.mark.parametrize(
    ("model_type", "changes"),
    CASES,
    ids=["-".join([model_type, *map(str, changes.values())]) for model_type, changes in CASES],
)


def batch_of(pairs: Pairs, source_eos: bool = True, length_bucket: int | None = None) -> Batch:
    sources, targets = zip(*pairs, strict=True)
    source_ids = [np.array(ids, dtype=np.uint16) for ids in sources]
    target_ids = [np.array(ids, dtype=np.uint16) for ids in targets]
    return pad_pairs(source_ids, target_ids, source_eos, length_bucket)


def nll_by_loops(model: EncoderDecoder, pairs: Pairs) -> Tensor:
    loops, end = by_loops(model), [END] if model.architecture.source_eos else []
    return torch.stack([loops.nll([*source, *end], [*target, END])[0] for source, target in pairs])


def check_gradients(
    model: EncoderDecoder, expected_gradients: tuple[Tensor, ...], rtol: float, atol: float
) -> None:
    for (name, weight), expected in zip(model.named_parameters(), expected_gradients, strict=True):
        assert expected.abs().sum() > 0, f"{name} does not influence the result: the test would not see it"
        assert weight.grad is not None, name
        torch.testing.assert_close(
            weight.grad.to_dense(), expected, rtol=rtol, atol=atol, msg=lambda m, n=name: f"{n}: {m}"
        )


@EVERY_CASE
def test_nll_and_gradients_match_loops(model_type, changes):
    model = small_model(model_type, **changes)
    batch = batch_of(PAIRS, model.architecture.source_eos)
    expected = nll_by_loops(model, PAIRS)

    # of each sentence, as scoring computes it
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    gradients = torch.autograd.grad((expected * weights).sum(), list(model.parameters()), retain_graph=True)
    scores = compute_sentence_nlls(model, batch)
    torch.testing.assert_close(scores, expected, rtol=1e-10, atol=1e-10)
    (scores * weights).sum().backward()
    check_gradients(model, gradients, rtol=1e-8, atol=1e-10)

    # of the batch, as training computes it
    gradients = torch.autograd.grad(3 * expected.sum(), list(model.parameters()))
    model.zero_grad()
    cost = model.total_nll(batch)
    torch.testing.assert_close(cost, expected.sum(), rtol=1e-10, atol=1e-10)
    (3 * cost).backward()
    check_gradients(model, gradients, rtol=1e-8, atol=1e-10)


def test_attention_matches_loops():
    model = small_model("rnnsearch")
    batch = batch_of(PAIRS)
    encoded = model.encode(batch.source, batch.source_lengths)
    _, attention = next(model.unroll(encoded, batch.target, len(batch.target)))
    loops = by_loops(model)
    for column, (source, target) in enumerate(PAIRS):
        _, alphas = loops.nll([*source, END], [*target, END])
        words = attention[: len(target) + 1, column]
        torch.testing.assert_close(words[:, : len(source) + 1], torch.stack(alphas))
        assert not words[:, len(source) + 1 :].any(), "padding must get no weight"


@EVERY_CASE
@torch.no_grad()
def test_search_steps_match_loops(model_type, changes):
    model = small_model(model_type, **changes)
    _, target = PAIRS[1]
    batch = batch_of([PAIRS[1]], model.architecture.source_eos)
    state = model.start_search(model.encode(batch.source, batch.source_lengths))
    nll = 0.0
    for word in [*target, END]:
        nll -= float(state.predict().log_probs[0, word])
        state.reorder_and_append(torch.tensor([[0]]), torch.tensor([[word]]))
    assert nll == pytest.approx(float(nll_by_loops(model, [PAIRS[1]])), rel=1e-10)
