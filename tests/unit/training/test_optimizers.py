"""Optimizers, clipping and the rule for gradients that are not finite, against their formulas."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from nmt.training import optimizers
from nmt.training.optimizers import (
    collect_optimizer_tensors,
    make_optimizer,
    measure_gradient,
    replace_nonfinite_gradients,
    schedule_learning_rate,
)
from tests.training_settings import training

RHO, EPSILON = 0.95, 1e-6
NO_CLIPPING = torch.ones(()).double()
START = torch.linspace(-1, 1, 12, dtype=torch.float64).view(6, 2)


def expected_weight(gradients: list[Tensor], learning_rate: float = 1.0) -> Tensor:
    """Return the weight after Adadelta's updates (Zeiler, 2012).

    Both averages start at 0, epsilon is inside both roots.
    """
    weight, squares, steps = START, torch.zeros_like(START), torch.zeros_like(START)
    for gradient in gradients:
        squares = RHO * squares + (1 - RHO) * gradient**2
        step = -torch.sqrt(steps + EPSILON) / torch.sqrt(squares + EPSILON) * gradient
        steps = RHO * steps + (1 - RHO) * step**2
        weight = weight + learning_rate * step
    return weight


def make_model(**settings: object) -> tuple[nn.ParameterList, optimizers.Optimizer]:
    """Return a "model" of one weight and its optimizer."""
    model = nn.ParameterList([nn.Parameter(START.clone())])
    return model, make_optimizer(model, training(**settings), fuse=False)


def random_gradients(count: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(START.shape, generator=generator, dtype=torch.float64) for _ in range(count)]


def make_sparse(gradient: Tensor, rows: list[int]) -> Tensor:
    """Return the sparse gradient of some rows."""
    indices = torch.tensor([rows], dtype=torch.int64)
    return torch.sparse_coo_tensor(indices, gradient[rows], tuple(gradient.shape))


@pytest.mark.parametrize("weights_per_block", [2, 1 << 16])
def test_adadelta(weights_per_block, monkeypatch):
    monkeypatch.setattr(optimizers, "WEIGHTS_PER_BLOCK", weights_per_block)
    model, optimizer = make_model(learning_rate=0.5)
    gradients = random_gradients(7)
    for gradient in gradients:
        model[0].grad = gradient.clone()
        optimizer.step(NO_CLIPPING)
    torch.testing.assert_close(model[0].detach(), expected_weight(gradients, 0.5), rtol=1e-12, atol=1e-14)


ROWS = st.lists(st.sets(st.integers(0, 5), max_size=4), min_size=1, max_size=12)


@given(rows_of_updates=ROWS, dense_updates=st.sets(st.integers(0, 11)))
def test_adadelta_with_sparse_rows(rows_of_updates, dense_updates):
    """Absent rows end as if their gradient had been 0; now and then, a gradient is dense."""
    model, optimizer = make_model()
    gradients = random_gradients(len(rows_of_updates))
    for update, (rows, gradient) in enumerate(zip(rows_of_updates, gradients, strict=True)):
        gradient[sorted(set(range(6)) - rows)] = 0
        is_dense = update in dense_updates
        model[0].grad = gradient.clone() if is_dense else make_sparse(gradient, sorted(rows))
        optimizer.step(NO_CLIPPING)
    torch.testing.assert_close(model[0].detach(), expected_weight(gradients), rtol=1e-12, atol=1e-14)


@given(norm=st.floats(1e-3, 1e3), max_norm=st.floats(1e-2, 10))
def test_clipping(norm, max_norm):
    weights = [nn.Parameter(torch.zeros(2).double()), nn.Parameter(torch.zeros(2, 1).double())]
    weights[0].grad = torch.tensor([3.0, 0.0]).double() * norm / 5
    weights[1].grad = torch.tensor([[0.0], [4.0]]).double() * norm / 5
    measured_norm, scale = measure_gradient(weights, max_norm)
    assert float(measured_norm) == pytest.approx(norm)
    assert float(scale) * norm == pytest.approx(min(norm, max_norm))
    assert float(scale) <= 1


def test_norm_of_sparse_gradient():
    """A row that was looked up three times counts once."""
    weight = nn.Parameter(torch.zeros(4, 1))
    nn.functional.embedding(torch.tensor([1, 1, 1, 2]), weight, sparse=True).sum().backward()
    assert float(measure_gradient([weight], 1.0)[0]) == pytest.approx(math.sqrt(3**2 + 1))


@pytest.mark.parametrize("value", [1.0, math.nan, math.inf, -math.inf])
def test_nonfinite_gradient_is_replaced(value):
    """It becomes a tenth of the weights, by the authors' rule. A finite gradient stays."""
    weights = [nn.Parameter(torch.tensor([1.0, -2.0])), nn.Parameter(torch.tensor([5.0]))]
    weights[0].grad, weights[1].grad = torch.tensor([value, 0.0]), torch.tensor([0.0])
    norm, scale = measure_gradient(weights, 1.0)
    assert float(scale) == 1 and bool(norm.isfinite()) == math.isfinite(value)
    replace_nonfinite_gradients(weights, norm)
    expected = ([1.0, 0.0], [0.0]) if math.isfinite(value) else ([0.1, -0.2], [0.5])
    for weight, gradient in zip(weights, expected, strict=True):
        torch.testing.assert_close(weight.grad, torch.tensor(gradient))


@pytest.mark.parametrize("rows", [None, [0, 2]])
def test_sgd(rows):
    """Without momentum, there is no state but the weights. With a sparse gradient, absent rows stay."""
    model, optimizer = make_model(optimizer="sgd", learning_rate=0.7)
    (gradient,) = random_gradients(1)
    if rows is not None:
        gradient[sorted(set(range(6)) - set(rows))] = 0
    model[0].grad = gradient.clone() if rows is None else make_sparse(gradient, rows)
    norm, scale = measure_gradient(model.parameters(), 0.5)
    assert float(norm) > 0.5
    optimizer.step(scale)
    torch.testing.assert_close(model[0].detach(), START - 0.7 * gradient * (0.5 / gradient.norm()))
    assert not collect_optimizer_tensors(model, optimizer)


def test_adam():
    """It is PyTorch's. A weight without a gradient stays."""
    model, optimizer = make_model(optimizer="adam", learning_rate=0.1, epsilon=1e-8)
    optimizer.weights.append(nn.Parameter(START.clone()))
    expected = nn.Parameter(START.clone())
    torch_optimizer = torch.optim.Adam([expected], lr=0.1, eps=1e-8, fused=True)
    for gradient in random_gradients(3):
        model[0].grad, expected.grad = gradient, 0.5 * gradient
        optimizer.step(torch.tensor(0.5))
        torch_optimizer.step()
    assert torch.equal(model[0], expected) and torch.equal(optimizer.weights[1], START)
    assert int(optimizer.state[model[0]]["step"]) == 3


def test_learning_rate_schedule():
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
