"""Adadelta, clipping and the rule for gradients that are not finite, against their formulas."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from nmt.training import optimizers
from nmt.training.optimizers import (
    make_optimizer,
    measure_gradient,
    optimizer_tensors,
    replace_nonfinite_gradients,
    schedule_learning_rate,
)
from tests.training_settings import training

RHO, EPSILON = 0.95, 1e-6


def formula(weight: Tensor, gradients: list[Tensor]) -> Tensor:
    """Zeiler (2012): both averages start at 0, epsilon is inside both roots, rho 0.95, epsilon 1e-6."""
    squares, steps = torch.zeros_like(weight), torch.zeros_like(weight)
    for gradient in gradients:
        squares = RHO * squares + (1 - RHO) * gradient**2
        step = -torch.sqrt(steps + EPSILON) / torch.sqrt(squares + EPSILON) * gradient
        steps = RHO * steps + (1 - RHO) * step**2
        weight = weight + step
    return weight


def made(*weights: Tensor) -> tuple[nn.ParameterList, optimizers.Optimizer]:
    """A "model" of these weights and its Adadelta."""
    model = nn.ParameterList([nn.Parameter(weight.clone()) for weight in weights])
    return model, make_optimizer(model, training(optimizer="adadelta", learning_rate=1.0))


def random_gradients(steps: int, *shape: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(steps)]


@pytest.mark.parametrize("in_cache", [2, 1 << 16])
def test_adadelta(in_cache: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimizers, "WEIGHTS_PER_BLOCK", in_cache)
    start = torch.tensor([[1.0, -2.0, 0.5], [0.1, 0.0, 3.0]], dtype=torch.float64)
    model, optimizer = made(start)
    gradients = random_gradients(7, 2, 3)
    for gradient in gradients:
        model[0].grad = gradient.clone()
        optimizer.step()
    torch.testing.assert_close(model[0].detach(), formula(start, gradients), rtol=1e-12, atol=1e-14)


ROWS = st.lists(st.sets(st.integers(0, 5), max_size=4), min_size=1, max_size=12)


@given(used=ROWS, whole=st.sets(st.integers(0, 11)))
def test_adadelta_with_sparse_rows(used: list[set[int]], whole: set[int]) -> None:
    """Sparse gradients, now and then a dense one among them, against the formula on dense ones."""
    start = torch.linspace(-1, 1, 12, dtype=torch.float64).view(6, 2)
    model, optimizer = made(start)
    dense = random_gradients(len(used), 6, 2)
    for number, (rows, gradient) in enumerate(zip(used, dense, strict=True)):
        absent = sorted(set(range(6)) - rows)
        gradient[absent] = 0
        indices = torch.tensor([sorted(rows)], dtype=torch.int64)
        sparse = torch.sparse_coo_tensor(indices, gradient[sorted(rows)], (6, 2))
        model[0].grad = gradient.clone() if number in whole else sparse
        optimizer.step()
    torch.testing.assert_close(model[0].detach(), formula(start, dense), rtol=1e-12, atol=1e-14)


@given(norm=st.floats(1e-3, 1e3), threshold=st.floats(1e-2, 10))
def test_clipping(norm: float, threshold: float) -> None:
    gradients = [torch.tensor([3.0, 0.0]).double(), torch.tensor([[0.0], [4.0]]).double()]
    weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient * norm / 5
    found, scale = measure_gradient(weights, threshold)
    assert float(found) == pytest.approx(norm)
    assert float(scale) * norm == pytest.approx(min(norm, threshold))
    assert float(scale) <= 1


def test_norm_of_sparse_gradient() -> None:
    weight = nn.Parameter(torch.zeros(4, 1))
    nn.functional.embedding(torch.tensor([1, 1, 1, 2]), weight, sparse=True).sum().backward()
    assert float(measure_gradient([weight], 1.0)[0]) == pytest.approx(math.sqrt(3**2 + 1))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nonfinite_gradient_is_replaced(bad: float) -> None:
    """The authors' rule."""
    weights = [nn.Parameter(torch.tensor([1.0, -2.0])), nn.Parameter(torch.tensor([5.0]))]
    weights[0].grad, weights[1].grad = torch.tensor([bad, 0.0]), torch.tensor([3.0])
    norm, scale = measure_gradient(weights, 1.0)
    assert not norm.isfinite() and float(scale) == 1
    replace_nonfinite_gradients(weights, norm)
    assert weights[0].grad is not None and weights[1].grad is not None
    torch.testing.assert_close(weights[0].grad, torch.tensor([0.1, -0.2]))
    torch.testing.assert_close(weights[1].grad, torch.tensor([0.5]))


def test_finite_gradient_stays() -> None:
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.tensor([3.0, 4.0])
    replace_nonfinite_gradients([weight], measure_gradient([weight], 1.0)[0])
    assert weight.grad.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("rows", [None, [0, 2]])
def test_sgd(rows: list[int] | None) -> None:
    """Without momentum: there is no state but the weights. Rows of a sparse gradient, the others stay."""
    start = torch.linspace(-1, 1, 6, dtype=torch.float64).view(3, 2)
    model = nn.ParameterList([nn.Parameter(start.clone())])
    optimizer = make_optimizer(model, training(optimizer="sgd", learning_rate=0.7))
    (gradient,) = random_gradients(1, 3, 2)
    if rows is None:
        model[0].grad = gradient.clone()
    else:
        model[0].grad = torch.sparse_coo_tensor(torch.tensor([rows]), gradient[rows], (3, 2))
        gradient[1] = 0
    norm, scale = measure_gradient(model.parameters(), 0.5)
    assert float(norm) > 0.5
    optimizer.step(scale)
    torch.testing.assert_close(model[0].detach(), start - 0.7 * gradient * (0.5 / gradient.norm()))
    assert not optimizer_tensors(model, optimizer)


def test_adam() -> None:
    start = torch.linspace(-1, 1, 6).view(3, 2)
    model, other = (nn.ParameterList([nn.Parameter(start.clone()), nn.Parameter(start[0])]) for _ in range(2))
    optimizer = make_optimizer(model, training(optimizer="adam", learning_rate=0.1, epsilon=1e-8))
    expected = torch.optim.Adam([other[0]], lr=0.1, eps=1e-8, fused=True)
    for gradient in random_gradients(3, 3, 2):
        model[0].grad, other[0].grad = gradient.float(), 0.5 * gradient.float()
        optimizer.step(torch.tensor(0.5))
        expected.step()
    assert torch.equal(model[0], other[0]) and torch.equal(model[1], start[0])
    assert int(optimizer.state[model[0]]["step"]) == 3


def test_learning_rate_schedule() -> None:
    """Sutskever et al. (2014), Sec. 3.4."""
    settings = training(optimizer="sgd", learning_rate=0.7, decay_from_epoch=5.0)
    epochs = [0, 4.999, 5.0, 5.499, 5.5, 6.0, 6.5, 7.0, 7.499]
    rates = [0.7, 0.7, 0.35, 0.35, 0.175, 0.0875, 0.04375, 0.021875, 0.021875]
    assert [schedule_learning_rate(settings, epoch) for epoch in epochs] == pytest.approx(rates)
    assert schedule_learning_rate(training(learning_rate=0.7), 100.0) == 0.7
    slower = training(learning_rate=1.0, decay_from_epoch=1.0, decay_every_epochs=2.0, decay_factor=0.1)
    assert [schedule_learning_rate(slower, epoch) for epoch in (0.9, 1.0, 2.9, 3.0)] == pytest.approx(
        [1, 0.1, 0.1, 0.01]
    )
