"""Functions that have a second form for torch.compile: both forms compute the same."""

from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.model import attention, loss
from nmt.training import optimizers

B, S, T, N, A = 3, 5, 4, 8, 6


def random_tensor(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(1)


def test_attend() -> None:
    arguments: dict[str, Any] = {
        "queries": random_tensor(B, 1, A),
        "keys": random_tensor(B, S, A),
        "v_a": random_tensor(A),
        "padding": torch.arange(S) >= torch.tensor([[5], [3], [1]]),
        "values": random_tensor(B, S, N),
        "fast_tanh": False,
    }
    torch.testing.assert_close(attention.attend(**arguments), attention.attend_fused(**arguments))


def test_backward_attend() -> None:
    """Over several steps, since one form makes sums at each step, and the other form after all of them."""
    values, keys, v_a = random_tensor(B, S, N), random_tensor(B, S, A), random_tensor(A)
    alpha, queries = random_tensor(T, B, S).softmax(dim=2), random_tensor(T, B, A)
    grad_sums, grad_alpha = random_tensor(T, B, N), random_tensor(T, B, S)

    def gradients(backward_attend: Any, backward_keys: Any) -> tuple[Tensor, ...]:
        grad_energies, grad_queries = torch.empty_like(alpha), torch.empty_like(queries)
        shared = {
            "keys": keys,
            "v_a": v_a,
            "sum_squares": torch.zeros_like(keys),
            "sum_activations": torch.zeros_like(v_a),
        }
        for t in range(T):
            backward_attend(
                alpha=alpha[t],
                values=values,
                grad_sum=grad_sums[t],
                grad_alpha=grad_alpha[t],
                query=queries[t],
                grad_energy=grad_energies[t],
                grad_query=grad_queries[t],
                fast_tanh=False,
                **shared,
            )
        grad_keys, grad_v_a = backward_keys(grad_energies=grad_energies, queries=queries, **shared)
        return grad_energies, grad_queries, grad_keys, grad_v_a

    torch.testing.assert_close(
        gradients(attention.backward_attend, attention.backward_keys),
        gradients(attention.backward_attend_fused, attention.backward_keys_fused),
    )


@pytest.mark.parametrize("mask", [None, torch.tensor([[1.0], [0.0], [1.0]])])
def test_cost(mask: Tensor | None) -> None:
    logits, words, b = random_tensor(B, N), torch.tensor([[1], [0], [7]]), random_tensor(N)
    fused_logits = logits.clone()
    cost = loss.replace_logits_by_gradient_(logits, b, words, mask)
    torch.testing.assert_close(loss.replace_logits_by_gradient_fused_(fused_logits, b, words, mask), cost)
    torch.testing.assert_close(fused_logits, logits)


def test_adadelta() -> None:
    tensors = [random_tensor(N), random_tensor(N), random_tensor(N).abs(), random_tensor(N).abs()]
    fused_tensors = [tensor.clone() for tensor in tensors]
    rate, scale = torch.tensor(0.3).double(), torch.tensor(0.5).double()
    optimizers.apply_adadelta(*tensors, float(rate), 0.95, 1e-6, scale)
    optimizers.apply_adadelta_fused(*fused_tensors, rate, 0.95, 1e-6, scale)
    torch.testing.assert_close(fused_tensors, tensors)
