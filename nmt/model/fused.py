"""The functions between the matrix products as Triton kernels. Each replaces a function of the same name.

`gated_step`, `gated_step_backward`: nmt.model.gru. `attend`, `AlignmentBackward`: nmt.model.alignment. `become_error`:
nmt.model.loss. `advance`: nmt.training.adadelta. These modules document arguments and shapes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nmt.model import triton_kernels as kernels
from nmt.model.precision import Factor, product

BLOCK = 256
"""Units of a row that one program processes."""
ROWS = 8
"""Source positions that a program holds at once."""
LONG = 4096
"""Words of the vocabulary that a program holds at once."""
WEIGHTS = 1024
"""Weights that a program holds at once. Each takes four numbers, and more weights would not fit in its registers."""


def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> None:
    """Start a kernel; all kernels are started by this function."""
    kernel[grid](*arguments, **constants)


def parts(count: int, size: int) -> int:
    """Return the number of programs for `count` items, when each takes `size` of them."""
    return -(-count // size)


def with_strides(values: Tensor) -> tuple[Tensor, int, int]:
    """Return a tensor (B, X) or (D, B, X), contiguous along X, with the strides of direction and sentence."""
    assert values.stride(-1) == 1
    return values, values.stride(0) if values.dim() == 3 else 0, values.stride(-2)


def gated_step(
    projected: Tensor,
    recurrent: Tensor,
    state: Tensor,
    U: Factor,
    mask: Tensor | None,
    out: tuple[Tensor, Tensor, Tensor],
) -> None:
    """See `nmt.model.gru.gated_step`."""
    gates, candidate, after = out
    sentences, hidden = state.shape[-2:]
    grid = (state.shape[:-1].numel(), parts(hidden, BLOCK))
    reset_state = state.new_empty(state.shape)
    launch(
        kernels.open_gates, grid, *with_strides(projected), *with_strides(recurrent), *with_strides(state),
        state if mask is None else mask, 0 if mask is None else mask.stride(0), *with_strides(gates), reset_state,
        sentences, hidden, MASKED=mask is not None, BLOCK=BLOCK,
    )  # fmt: skip
    launch(
        kernels.new_state, grid, product(reset_state, U).contiguous(), *with_strides(projected), *with_strides(state),
        *with_strides(gates), *with_strides(candidate), *with_strides(after), sentences, hidden, BLOCK=BLOCK,
    )  # fmt: skip


def gated_step_backward(
    grad: Tensor, gates: Tensor, candidate: Tensor, state: Tensor, U_t: Factor, grad_projected: Tensor
) -> Tensor:
    """See `nmt.model.gru.gated_step_backward`."""
    sentences, hidden = state.shape[-2:]
    grid = (state.shape[:-1].numel(), parts(hidden, BLOCK))
    given = (*with_strides(grad), *with_strides(gates))
    launch(
        kernels.candidate_gradient, grid, *given, *with_strides(candidate), *with_strides(state),
        *with_strides(grad_projected), sentences, hidden, BLOCK=BLOCK,
    )  # fmt: skip
    grad_reset_state = product(grad_projected[..., 2 * hidden :], U_t).contiguous()
    before = state.new_empty(state.shape)
    launch(
        kernels.state_gradient, grid, *given, *with_strides(state), grad_reset_state,
        *with_strides(grad_projected), before, sentences, hidden, BLOCK=BLOCK,
    )  # fmt: skip
    return before


def attend(
    query: Tensor, keys: Tensor, v_a: Tensor, padding: Tensor, annotations: Tensor, weights: Tensor, context: Tensor
) -> None:  # fmt: skip
    """See `nmt.model.alignment.attend`."""
    batch, length, units = keys.shape
    energy = torch.empty_like(weights)
    launch(
        kernels.energies, (batch, parts(length, ROWS)), keys, query, query.stride(0), v_a, padding, energy,
        length, units, ROWS=ROWS, BLOCK=BLOCK,
    )  # fmt: skip
    size = annotations.shape[2]
    launch(
        kernels.read_context, (batch, parts(size, BLOCK)), energy, annotations, weights, context, length, size,
        SENTENCE=power_of_two(length), ROWS=ROWS, BLOCK=BLOCK,
    )  # fmt: skip


class AlignmentBackward:
    """See `nmt.model.alignment.AlignmentBackward`."""

    def __init__(self, keys: Tensor, v_a: Tensor, annotations: Tensor) -> None:
        self.keys, self.v_a, self.annotations = keys, v_a, annotations
        self.grad_keys = torch.zeros_like(keys)
        self.grad_v = keys.new_zeros(len(keys), len(v_a))

    def step(
        self, weights: Tensor, grad_context: Tensor, query: Tensor, grad_energy: Tensor, grad_query: Tensor
    ) -> None:
        """See `nmt.model.alignment.AlignmentBackward.step`."""
        batch, length, units = self.keys.shape
        size = self.annotations.shape[2]
        grad_weights = torch.empty_like(weights)
        launch(
            kernels.weight_gradient, (batch, parts(length, ROWS)), self.annotations, grad_context, grad_weights,
            length, size, ROWS=ROWS, BLOCK=BLOCK,
        )  # fmt: skip
        launch(
            kernels.alignment_gradient, (batch, parts(units, BLOCK)), weights, grad_weights, self.keys,
            query, query.stride(0), self.v_a, grad_energy, grad_query, grad_query.stride(0), self.grad_keys,
            self.grad_v, length, units, SENTENCE=power_of_two(length), ROWS=ROWS, BLOCK=BLOCK,
        )  # fmt: skip

    def gradients(self, grad_energies: Tensor) -> tuple[Tensor, Tensor]:
        """See `nmt.model.alignment.AlignmentBackward.gradients`."""
        return self.grad_keys.mul_(self.v_a), self.grad_v.sum(dim=0)


def power_of_two(count: int) -> int:
    """Return the smallest power of two that is not less than the number."""
    return 1 << (count - 1).bit_length()


def become_error(logits: Tensor, b: Tensor, words: Tensor, mask: Tensor | None) -> Tensor:
    """See `nmt.model.loss.become_error`."""
    cost = logits.new_empty(len(logits))
    launch(
        kernels.softmax_error, (len(logits),), logits, b, words, cost if mask is None else mask, cost,
        logits.shape[1], MASKED=mask is not None, BLOCK=LONG,
    )  # fmt: skip
    return cost.sum(dtype=torch.float64)


def advance(parts_of: list[Tensor], group: dict[str, Any], scale: Tensor | None) -> None:
    """See `nmt.training.adadelta.advance`."""
    weight = parts_of[0]
    launch(
        kernels.adadelta, (parts(weight.numel(), WEIGHTS),), *parts_of, weight if scale is None else scale,
        weight.numel(), LEARNING_RATE=group["lr"], RHO=group["rho"], EPSILON=group["eps"],
        SCALED=scale is not None, BLOCK=WEIGHTS,
    )  # fmt: skip
