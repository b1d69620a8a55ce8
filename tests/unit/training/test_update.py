"""One update: padding, sparse rows, blocks, precision and CUDA graphs change nothing that they should not."""

from __future__ import annotations

import pytest
import torch

from nmt.backend.matmul import Backend
from nmt.data.batches import Batch
from nmt.model import attention, loss
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import ModelTypeName
from nmt.training.optimizers import make_gradients_dense
from nmt.training.update import Updater, UpdateStatistics
from tests.small_models import small_model
from tests.training_settings import training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of


def gradients(
    model: EncoderDecoder, batch: Batch, include_padding: bool = False
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    model.zero_grad()
    nll = model.total_nll(batch, include_padding)
    nll.backward()  # type: ignore[no-untyped-call]
    return nll.detach(), [w.grad.to_dense() for w in model.parameters() if w.grad is not None]


@pytest.mark.parametrize("multiple", [1, 4, 7])
def test_bucket_changes_nothing(model_type: ModelTypeName, multiple: int) -> None:
    model = small_model(model_type)
    padded = batch_of(PAIRS, bucket=multiple)
    assert len(padded.source) == len(padded.target) and len(padded.target) % multiple == 1 % multiple
    nll, expected = gradients(model, batch_of(PAIRS))
    found, other = gradients(model, padded, include_padding=True)
    torch.testing.assert_close(found, nll, rtol=1e-12, atol=0)
    for one, two in zip(expected, other, strict=True):
        torch.testing.assert_close(two, one, rtol=1e-9, atol=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor chunks of the logits; padding counts nowhere."""
    model, batch = small_model("rnnsearch"), batch_of(PAIRS, bucket=4)
    nll, expected = gradients(model, batch, include_padding=True)
    monkeypatch.setitem(attention.ACTIVATIONS_PER_BLOCK, "cpu", 1)
    monkeypatch.setattr(loss, "LOGITS_PER_BLOCK", 1)
    monkeypatch.setattr(loss, "POSITIONS_PER_BLOCK", 2)
    found, other = gradients(model, batch, include_padding=True)
    torch.testing.assert_close(found, nll, rtol=1e-12, atol=0)
    for one, two in zip(expected, other, strict=True):
        torch.testing.assert_close(two, one, rtol=1e-10, atol=1e-13)


def updated(model_type: ModelTypeName, sparse: bool) -> tuple[EncoderDecoder, UpdateStatistics]:
    model = small_model(model_type)
    updater = Updater(model, training(clip_norm=0.5))
    for embedding in () if sparse else (model.source_embedding, model.target_embedding):
        embedding.E.register_post_accumulate_grad_hook(lambda E: make_gradients_dense([E]))
    for number in range(5):
        updater(batch_of([PAIRS[number % 3], PAIRS[(number + 1) % 3]]))
    return model, updater.read_statistics()


def test_sparse_gradients_change_nothing(model_type: ModelTypeName) -> None:
    (sparse, one), (dense, two) = updated(model_type, True), updated(model_type, False)
    for a, b in zip(sparse.parameters(), dense.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)
    assert one.clipped == two.clipped == 5
    assert one.norm == pytest.approx(two.norm, rel=1e-9)


def test_statistics() -> None:
    model = small_model("rnnsearch")
    expected = 0.0
    updater = Updater(model, training(learning_rate=1e-9))
    for _ in range(3):
        expected += float(model.total_nll(batch_of(PAIRS)).detach())
        updater(batch_of(PAIRS))
    found = updater.read_statistics()
    assert found.nll == pytest.approx(expected, rel=1e-6)
    assert found.not_finite == 0


def test_nonfinite_gradient_is_counted(
    model_type: ModelTypeName,
) -> None:
    model = small_model(model_type, torch.float32)
    updater = Updater(model, training(not_finite="groundhog"))
    batch = batch_of(PAIRS)
    before = [weight.detach().clone() for weight in model.parameters()]
    with torch.no_grad():
        kept = model.readout.b_o[0].clone()
        model.readout.b_o[0] = torch.inf
    updater(batch)
    sums = updater.read_statistics()
    assert (sums.not_finite, sums.nll, sums.norm, sums.clipped) == (1, 0.0, 0.0, 0)
    assert all(weight.grad is not None for weight in model.parameters())
    for weight, old in zip(model.parameters(), before, strict=True):
        moved = (weight.detach() - old)[old != 0]
        assert weight is model.readout.b_o or bool((moved * old[old != 0] < 0).all()), "each shrinks a little"
    with torch.no_grad():
        model.readout.b_o[0] = kept
    updater(batch)
    assert updater.read_statistics().not_finite == 1


def test_bf16_product() -> None:
    left, right = torch.full((1, 512), 1.0), torch.full((512, 1), 1.0 + 2**-12)
    assert float(Backend().product(left, right)) == 512 * (1 + 2**-12)
    rounding = Backend("bf16")
    found = rounding.product(left, rounding.prepare_weight(right))
    assert found.dtype == torch.float32 and float(found) == 512
    rounding.set_switches()
    assert not torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction


def test_bf16_update(model_type: ModelTypeName) -> None:
    model = small_model(model_type, torch.float32)
    batch = batch_of(PAIRS)
    nll, exact = gradients(model, batch)
    model.use_backend(Backend("bf16"))
    rounded_nll, rounded = gradients(model, batch)
    updater = Updater(model, training())
    updater(batch)
    assert float(rounded_nll) == pytest.approx(float(nll), rel=0.02)
    assert not torch.equal(rounded_nll, nll), "nothing was rounded"
    for one, two in zip(exact, rounded, strict=True):
        assert two.dtype == torch.float32
        assert float((one - two).norm()) < 0.05 * float(one.norm()) + 1e-3
    for state in updater.optimizer.state.values():
        assert state["square_average"].dtype == torch.float32


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("optimizer", ["adadelta", "adam"])
def test_graphs_equal_calls(model_type: ModelTypeName, optimizer: str) -> None:
    runs = []
    for graphed in (True, False):
        model = small_model(model_type, torch.float32).to("cuda")
        updater = Updater(model, training(optimizer=optimizer))
        for number in range(12):
            pairs = [PAIRS[number % 3], PAIRS[(number + 1) % 3]]
            batch = batch_of(pairs, bucket=updater.bucket).pin_memory()
            updater(batch) if graphed else updater._update(batch.to(updater.device))
        runs.append(([weight.detach().cpu() for weight in model.parameters()], updater.read_statistics()))
    assert runs[0][1] == runs[1][1]
    for one, two in zip(runs[0][0], runs[1][0], strict=True):
        assert torch.equal(one, two)
