"""Functions that have a second form for torch.compile: both forms compute the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.model import attention, loss
from nmt.training import optimizers

B, S, T, N, A = 3, 5, 4, 8, 6


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    torch.manual_seed(1)


def test_attention() -> None:
    padding = torch.arange(S) >= torch.tensor([[5], [3], [1]])
    arguments = drawn(B, 1, A), drawn(B, S, A), drawn(A), padding, drawn(B, S, N), False
    both = attention.attend(*arguments), attention.attend_fused(*arguments)
    torch.testing.assert_close(*both)


def test_the_way_back_through_attention() -> None:
    """Over several steps, since one form makes sums at each step, and the other form after all of them."""
    values, keys, v_a = drawn(B, S, N), drawn(B, S, A), drawn(A)
    weights, queries = drawn(T, B, S).softmax(dim=2), drawn(T, B, A)
    grad_sums, known = drawn(T, B, N), drawn(T, B, S)

    def gradients(backward_attend: Any, backward_keys: Any) -> tuple[Tensor, ...]:
        grad_energies, grad_queries = torch.empty_like(weights), torch.empty_like(queries)
        squares, grad_v = torch.zeros_like(keys), keys.new_zeros(B, A)
        for t in range(T):
            backward_attend(
                weights[t], values, grad_sums[t], known[t], keys, queries[t], v_a,
                grad_energies[t], grad_queries[t], squares, grad_v, False,
            )  # fmt: skip
        grad_keys, grad_v = backward_keys(grad_energies, queries, keys, v_a, squares, grad_v)
        return grad_energies, grad_queries, grad_keys, grad_v

    torch.testing.assert_close(
        gradients(attention.backward_attend, attention.backward_keys),
        gradients(attention.backward_attend_fused, attention.backward_keys_fused),
    )


@pytest.mark.parametrize("mask", [None, torch.tensor([[1.0], [0.0], [1.0]])])
def test_the_cost(mask: Tensor | None) -> None:
    logits, words = drawn(B, N), torch.tensor([[1], [0], [7]])
    other, b = logits.clone(), drawn(N)
    costs = (
        loss.replace_logits_by_gradient_(logits, b, words, mask),
        loss.replace_logits_by_gradient_fused_(other, b, words, mask),
    )
    torch.testing.assert_close(*costs)
    torch.testing.assert_close(logits, other)


def test_adadelta() -> None:
    parts = [drawn(N), drawn(N), drawn(N).abs(), drawn(N).abs()]
    others = [part.clone() for part in parts]
    rate, scale = torch.tensor(0.3).double(), torch.tensor(0.5).double()
    optimizers.apply_adadelta(*parts, float(rate), 0.95, 1e-6, scale)
    optimizers.apply_adadelta_fused(*others, rate, 0.95, 1e-6, scale)
    torch.testing.assert_close(parts, others)
