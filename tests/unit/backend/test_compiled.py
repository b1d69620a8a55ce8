"""Compiled steps, on the processor, against the equations as plain loops, and how much is compiled."""

from __future__ import annotations

import shutil

import pytest
import torch
import torch._dynamo
from torch._dynamo.utils import counters

from nmt.backend import compiled
from nmt.backend.compiled import will_fuse
from nmt.backend.products import Backend
from nmt.settings.families import FamilyName
from nmt.training.update import Updater
from tests.small_models import small_model
from tests.training_settings import model_run, training
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of, nll_by_loops

CPU = torch.device("cpu")


@pytest.mark.slow
@pytest.mark.skipif(compiled._missing(CPU) is not None, reason="needs a C++ compiler")
def test_a_compiled_update_follows_the_equations(family: FamilyName) -> None:
    """Cost and gradients of batches with padding and of several lengths, then the optimizer's step."""
    torch._dynamo.reset()
    counters.clear()
    model = small_model(family)
    model.use(Backend(fuse=will_fuse("compiled", CPU)))
    updater = Updater(model, training(clip_norm=0.5, kernels="compiled"))
    compilations = []
    for pairs in ([PAIRS[1], ([3, 5], [4])], [PAIRS[0], PAIRS[2]], [([3] * 9, [4, 2] * 5), ([2], [3])]):
        updater.optimizer.state.clear()
        expected = nll_by_loops(model, pairs).sum()
        gradients = torch.autograd.grad(expected, list(model.parameters()))
        before = [weight.detach().clone() for weight in model.parameters()]
        updater.sums.zero_()
        updater(batch_of(pairs))
        assert updater.read().nll == pytest.approx(float(expected.detach()), rel=1e-6)
        scale = min(1.0, 0.5 / float(torch.stack([gradient.norm() for gradient in gradients]).norm()))
        for weight, old, gradient in zip(model.parameters(), before, gradients, strict=True):
            clipped = scale * gradient
            step = (1e-6 / (0.05 * clipped**2 + 1e-6)).sqrt() * clipped
            torch.testing.assert_close(weight.detach(), old - step, rtol=1e-7, atol=1e-10)
        compilations.append(counters["stats"]["unique_graphs"])
    assert compilations[0] == compilations[-1], "another length is not compiled again"


def test_without_a_compiler_a_gpu_trains_as_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    assert not will_fuse("auto", torch.device("cuda")) and capsys.readouterr().err.count("\n") == 1


def test_settings_of_former_versions_are_read_and_train_nothing_again() -> None:
    models = [model_run(), model_run(kernels="torch"), model_run(kernels="triton")]
    assert [model.training.kernels for model in models] == ["auto", "torch", "compiled"]
    assert all(model.outcome() == models[0].outcome() for model in models)
    assert all(model.fingerprint_fields() == models[0].fingerprint_fields() for model in models)
