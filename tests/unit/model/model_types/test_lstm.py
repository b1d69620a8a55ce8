"""Sutskever's deep LSTMs: their size, their start, the order in which they read, and the library's scan."""

from __future__ import annotations

import pytest
import torch

from nmt.backend.matmul import Backend
from nmt.data.vocabulary import END
from nmt.model import model_types
from nmt.model.model_types.lstm import DeepLSTM, LSTMState
from nmt.settings.model_types import LSTMArchitecture
from nmt.training.validation import compute_sentence_nlls
from tests.small_models import small_architecture, small_model
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of, nll_by_loops

PAPER = LSTMArchitecture(hidden_units=1000, embedding_size=1000, source_eos=False, unused_ids=0)


def test_the_papers_model_has_384_million_weights() -> None:
    """Sec. 3.4: 384M, of which 64M are recurrent; 8,000 numbers represent a sentence."""
    with torch.device("meta"):
        model = model_types.build_model("lstm", PAPER, 160_002, 80_002)
        vector = model.sentence_vectors(
            model.encode(torch.zeros(3, 2, dtype=torch.int64), torch.full((2,), 3))
        )
    sizes = {name: weight.numel() for name, weight in model.named_parameters()}
    assert sum(sizes.values()) == 384_118_002
    assert sum(size for name, size in sizes.items() if name[-2:] in (".W", ".U")) == 64_000_000
    assert vector is not None and vector.shape == (2, 8000)


def test_all_weights_start_uniformly() -> None:
    architecture = small_architecture("lstm", hidden_units=120, embedding_size=90, init_range=0.08)
    for name, weight in model_types.create_model("lstm", architecture, (400, 300), seed=1).named_parameters():
        assert weight.abs().max() <= 0.08, name
        assert weight.std().item() == pytest.approx(0.08 / 3**0.5, rel=0.1), name


@pytest.mark.parametrize(
    ("order", "end", "read"),
    [
        ("reversed", False, [[7, 6, 5], [8]]),
        ("reversed", True, [[7, 6, 5, END], [8, END]]),
        ("forward", False, [[5, 6, 7], [8]]),
        ("forward", True, [[5, 6, 7, END], [8, END]]),
    ],
)
def test_the_words_are_read_in_this_order_the_end_symbol_last(
    order: str, end: bool, read: list[list[int]]
) -> None:
    model = small_model("lstm", source_order=order, source_eos=end)
    assert isinstance(model, DeepLSTM)
    batch = batch_of([([5, 6, 7], [2]), ([8], [3])], end)
    places, present = model.reading_order(batch.source_lengths, len(batch.source))
    words = batch.source.gather(0, places)
    assert [words[present[:, column], column].tolist() for column in range(2)] == read
    assert present[-1].all(), "all sentences end together"


@pytest.mark.parametrize("layers", [1, 3])
def test_in_32_bits_values_and_gradients_follow_the_equations(layers: int) -> None:
    """oneDNN, which has no 64 bits, against the plain loops."""
    model = small_model("lstm", torch.float32, layers=layers)
    expected = nll_by_loops(model, PAIRS)
    gradients = torch.autograd.grad(expected.sum(), list(model.parameters()))
    found = compute_sentence_nlls(model, batch_of(PAIRS))
    torch.testing.assert_close(found, expected.double(), rtol=1e-5, atol=1e-5)
    found.sum().backward()
    for (name, weight), gradient in zip(model.named_parameters(), gradients, strict=True):
        torch.testing.assert_close(
            weight.grad.to_dense(), gradient, rtol=1e-4, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_the_librarys_scan_is_that_of_the_cells() -> None:
    """In bf16, whose states stay in 32 bits, the cells run one by one; with weights that 8 bits hold, alike."""
    model = small_model("lstm", torch.float32)
    assert isinstance(model, DeepLSTM)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_((8 * weight).round() / 8)
    present = torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    x = torch.randn(
        3, 2, 4, generator=torch.Generator().manual_seed(1)
    ).bfloat16().float() * present.unsqueeze(2)
    start = LSTMState(torch.zeros(2, 5), torch.zeros(2, 5))
    by_library, (h, c) = model.encoder[0].scan(x, start, present)
    model.use_backend(Backend("bf16"))
    by_cells, (h_cells, c_cells) = model.encoder[0].scan(x, start, present)
    for one, other in ((by_library, by_cells), (h, h_cells), (c, c_cells)):
        torch.testing.assert_close(one, other, rtol=0.02, atol=0.02)
    assert not by_library[0, 0].any() and not by_cells[0, 0].any(), "padding leaves a state of 0"
