"""Sutskever's deep LSTMs: their size, their initial weights, the order in which they read, and the library's scan."""

import pytest
import torch

from nmt.data.vocabulary import END
from nmt.model import model_types
from nmt.settings.model_types import LSTMArchitecture
from nmt.training.validation import compute_sentence_nlls
from tests.small_models import small_architecture, small_model
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of, check_gradients, nll_by_loops

PAPER = LSTMArchitecture(hidden_units=1000, embedding_size=1000, source_eos=False, unused_ids=0)


def test_paper_model_has_384_million_weights():
    """Sec. 3.4: 384M, of which 64M are recurrent; 8,000 numbers represent a sentence."""
    with torch.device("meta"):
        model = model_types.build_model("lstm", PAPER, (160_002, 80_002))
        encoded = model.encode(torch.zeros(3, 2, dtype=torch.int64), torch.full((2,), 3))
        vectors = model.sentence_vectors(encoded)
    sizes = {name: weight.numel() for name, weight in model.named_parameters()}
    assert sum(sizes.values()) == 384_118_002
    assert sum(size for name, size in sizes.items() if name.endswith((".W", ".U"))) == 64_000_000
    assert vectors.shape == (2, 8000)


def test_weights_start_uniformly():
    architecture = small_architecture("lstm", hidden_units=120, embedding_size=90, init_range=0.08)
    model = model_types.create_model("lstm", architecture, (400, 300), seed=1)
    for name, weight in model.named_parameters():
        assert weight.abs().max() <= 0.08, name
        assert weight.std().item() == pytest.approx(0.08 / 3**0.5, rel=0.1), name


@pytest.mark.parametrize(
    ("order", "source_eos", "expected_words"),
    [
        ("reversed", False, [[7, 6, 5], [8]]),
        ("reversed", True, [[7, 6, 5, END], [8, END]]),
        ("forward", True, [[5, 6, 7, END], [8, END]]),
    ],
)
def test_reading_order(order, source_eos, expected_words):
    model = small_model("lstm", source_order=order, source_eos=source_eos)
    batch = batch_of([([5, 6, 7], [2]), ([8], [3])], source_eos)
    positions, is_word = model.reading_order(batch.source_lengths, len(batch.source))
    words = batch.source.gather(0, positions)
    for column, expected in enumerate(expected_words):
        assert words[is_word[:, column], column].tolist() == expected
    assert is_word[-1].all(), "all sentences end together"


@pytest.mark.parametrize("layers", [1, 3])
def test_library_scan_matches_loops(layers):
    """oneDNN, which has no 64 bits, against the plain loops."""
    model = small_model("lstm", torch.float32, layers=layers)
    expected = nll_by_loops(model, PAIRS)
    gradients = torch.autograd.grad(expected.sum(), list(model.parameters()))
    nll = compute_sentence_nlls(model, batch_of(PAIRS))
    torch.testing.assert_close(nll, expected.double(), rtol=1e-5, atol=1e-5)
    nll.sum().backward()
    check_gradients(model, gradients, rtol=1e-4, atol=1e-5)
