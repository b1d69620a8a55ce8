"""One update: padding, sparse rows, blocks, precision and CUDA graphs change nothing that they should not."""

import pytest
import torch
from torch import Tensor

from nmt.backend.matmul import Backend
from nmt.data.batches import Batch
from nmt.model import attention, loss
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.training.update import Updater, UpdateStatistics
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of


def compute_gradients(
    model: EncoderDecoder, batch: Batch, include_padding: bool = False
) -> tuple[Tensor, list[Tensor]]:
    """Return the NLL and the gradients of the weights."""
    model.zero_grad()
    nll = model.total_nll(batch, include_padding)
    nll.backward()
    return nll.detach(), [w.grad.to_dense() for w in model.parameters() if w.grad is not None]


@pytest.mark.parametrize("length_bucket", [1, 4, 7])
def test_bucket_changes_nothing(model_type, length_bucket):
    model = small_model(model_type)
    padded_batch = batch_of(PAIRS, length_bucket=length_bucket)
    assert len(padded_batch.source) == len(padded_batch.target)
    assert len(padded_batch.target) % length_bucket == 1 % length_bucket
    nll, gradients = compute_gradients(model, padded_batch, include_padding=True)
    expected_nll, expected_gradients = compute_gradients(model, batch_of(PAIRS))
    torch.testing.assert_close(nll, expected_nll, rtol=1e-12, atol=0)
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length_bucket", [None, 4])
def test_forms_for_the_compiler_change_nothing(model_type, length_bucket):
    """Here they run without the compiler."""
    weights = []
    for fuse in (False, True):
        model = small_model(model_type)
        model.use_backend(Backend(fuse=fuse))
        updater = Updater(model, training(clip_norm=0.5))
        updater.length_bucket = length_bucket
        with torch.compiler.set_stance("force_eager"):
            for pairs in (PAIRS, PAIRS[:2]):
                updater(batch_of(pairs, length_bucket=length_bucket))
        weights.append(list(model.parameters()))
    torch.testing.assert_close(weights[0], weights[1], rtol=1e-9, atol=1e-12)


def test_blocks_change_nothing(monkeypatch):
    """Neither those of attention nor those of the logits."""
    model, batch = small_model("rnnsearch"), batch_of(PAIRS, length_bucket=4)
    expected_nll, expected_gradients = compute_gradients(model, batch, include_padding=True)
    monkeypatch.setitem(attention.ACTIVATIONS_PER_BLOCK, "cpu", 1)
    monkeypatch.setattr(loss, "LOGITS_PER_BLOCK", 1)
    monkeypatch.setattr(loss, "POSITIONS_PER_BLOCK", 2)
    nll, gradients = compute_gradients(model, batch, include_padding=True)
    torch.testing.assert_close(nll, expected_nll, rtol=1e-12, atol=0)
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-10, atol=1e-13)


def test_statistics():
    model = small_model("rnnsearch")
    expected_nll = 0.0
    updater = Updater(model, training(learning_rate=1e-9))
    for _ in range(3):
        expected_nll += float(model.total_nll(batch_of(PAIRS)).detach())
        updater(batch_of(PAIRS))
    statistics = updater.read_statistics()
    assert statistics.nll == pytest.approx(expected_nll, rel=1e-6)
    assert (statistics.clipped_updates, statistics.nonfinite_updates) == (3, 0)


def test_nonfinite_gradient_is_counted(model_type):
    """By the authors' rule, training continues."""
    model, batch = small_model(model_type, torch.float32), batch_of(PAIRS)
    updater = Updater(model, training(not_finite="groundhog"))
    with torch.no_grad():
        model.readout.b_o[0] = torch.inf
    updater(batch)
    statistics = updater.read_statistics()
    assert statistics == UpdateStatistics(nll=0.0, gradient_norm=0.0, clipped_updates=0, nonfinite_updates=1)
    with torch.no_grad():
        model.readout.b_o.zero_()
    updater(batch)
    assert updater.read_statistics().nonfinite_updates == 1


def test_bf16_update(model_type):
    """State and gradients stay in 32 bits."""
    model, batch = small_model(model_type, torch.float32), batch_of(PAIRS)
    exact_nll, exact_gradients = compute_gradients(model, batch)
    model.use_backend(Backend("bf16"))
    nll, gradients = compute_gradients(model, batch)
    updater = Updater(model, training())
    updater(batch)
    assert float(nll) == pytest.approx(float(exact_nll), rel=0.02)
    assert not torch.equal(nll, exact_nll), "nothing was rounded"
    for gradient, exact_gradient in zip(gradients, exact_gradients, strict=True):
        assert gradient.dtype == torch.float32
        assert float((gradient - exact_gradient).norm()) < 0.05 * float(exact_gradient.norm()) + 1e-3
    for state in updater.optimizer.state.values():
        assert state["square_average"].dtype == torch.float32


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("optimizer", ["adadelta", "adam"])
def test_graphs_equal_calls(model_type, optimizer):
    weights, statistics = [], []
    for use_graphs in (True, False):
        model = small_model(model_type, torch.float32).to("cuda")
        updater = Updater(model, training(optimizer=optimizer))
        for i in range(12):
            pairs = [PAIRS[i % 3], PAIRS[(i + 1) % 3]]
            batch = batch_of(pairs, length_bucket=updater.length_bucket).pin_memory()
            updater(batch) if use_graphs else updater._update(batch.to(updater.device))
        weights.append(list(model.parameters()))
        statistics.append(updater.read_statistics())
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=0)
    assert statistics[0] == statistics[1]
