"""Adadelta and clipping against their formulas."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from nmt.optimizer import clip, make_optimizer
from tests.training_settings import training


def test_adadelta_follows_its_formula() -> None:
    """Zeiler (2012): both accumulators start at 0, epsilon is inside both roots, rho 0.95, epsilon 1e-6."""
    weight = nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64))
    optimizer = make_optimizer(nn.ParameterList([weight]), training(optimizer="adadelta", learning_rate=1.0))
    expected, squares, steps = weight.detach().clone(), torch.zeros(3).double(), torch.zeros(3).double()
    generator = torch.Generator().manual_seed(0)
    for _ in range(7):
        gradient = torch.randn(3, generator=generator, dtype=torch.float64)
        weight.grad = gradient.clone()
        optimizer.step()
        squares = 0.95 * squares + 0.05 * gradient**2
        step = -torch.sqrt(steps + 1e-6) / torch.sqrt(squares + 1e-6) * gradient
        steps = 0.95 * steps + 0.05 * step**2
        expected = expected + step
        torch.testing.assert_close(weight.detach(), expected, rtol=1e-12, atol=1e-14)


@given(norm=st.floats(1e-3, 1e3), threshold=st.floats(1e-2, 10))
def test_clipping_scales_to_the_threshold_only_above_it(norm: float, threshold: float) -> None:
    gradients = [torch.tensor([3.0, 0.0]).double(), torch.tensor([[0.0], [4.0]]).double()]
    weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient * norm / 5
    assert float(clip(weights, threshold)) == pytest.approx(norm)
    after = torch.cat([weight.grad.flatten() for weight in weights if weight.grad is not None])
    assert float(after.norm()) == pytest.approx(min(norm, threshold))
    torch.testing.assert_close(after / after.norm(), torch.tensor([0.6, 0, 0, 0.8]).double())


def test_a_gradient_at_the_threshold_stays_as_it_is() -> None:
    weight = nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([0.6, 0.8])
    clip([weight], 1.0)
    assert weight.grad.tolist() == pytest.approx([0.6, 0.8], abs=1e-7)
