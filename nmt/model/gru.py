"""The gated hidden unit and its fast scan (paper, App. A.1.1 and A.2.2; Cho et al. 2014a).

Shapes: D directions, B sentences, T steps, N hidden units, M embedding size, C context size. Vectors are rows, so a
weight is (inputs, outputs). The unit here applies the reset gate BEFORE the matrix product, U [r * h], as the paper
defines it. cuDNN's GRU does not do this.

The caller computes everything that does not depend on the previous state, as one product over all steps. The scan below
contains only the recurrent products. It runs several directions at once, so that both directions of the encoder share
each step. Its backward pass is written by hand: it keeps the states and gates, and computes the gradient of each weight
as one product at the end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.backend.products import Backend, Factor, Module, tanh_
from nmt.model.weights import create_weight


class GRUCell(Module):
    """Weights of one gated unit: W, W_z, W_r (M, N), U, U_z, U_r (N, N) and, with a context, C, C_z, C_r (C, N).

    The bias `b` belongs to the candidate's input projection, as in the authors' code; the gates have none.
    """

    def __init__(self, inputs: int, hidden: int, context: int = 0) -> None:
        super().__init__()
        self.hidden = hidden
        self.W, self.W_z, self.W_r = (create_weight(inputs, hidden) for _ in range(3))
        self.U, self.U_z, self.U_r = (create_weight(hidden, hidden) for _ in range(3))
        if context:
            self.C, self.C_z, self.C_r = (create_weight(context, hidden) for _ in range(3))
        self.b = nn.Parameter(torch.empty(hidden))

    def input_weights(self) -> Tensor:
        """The matrix [W_z | W_r | W], (M, 3N). Scans keep their pre-activations in the same order."""
        return torch.cat([self.W_z, self.W_r, self.W], dim=1)

    def context_weights(self) -> Tensor:
        """The matrix [C_z | C_r | C], (C, 3N)."""
        return torch.cat([self.C_z, self.C_r, self.C], dim=1)

    def gate_weights(self) -> Tensor:
        """The matrix [U_z | U_r], (N, 2N)."""
        return torch.cat([self.U_z, self.U_r], dim=1)

    def input_bias(self) -> Tensor:
        """The biases of the three pre-activations, (3N,)."""
        return torch.cat([self.b.new_zeros(2 * self.hidden), self.b])

    def input_factor(self) -> Factor:
        """The factor for products with `input_weights`."""
        return self.prepared_weight("input", self.input_weights)

    def project(self, embedded: Tensor) -> Tensor:
        """Return W E x of gates and candidate for all steps at once: (..., M) -> (..., 3N)."""
        flat = embedded.reshape(-1, embedded.shape[-1])
        return self.backend.affine(flat, self.input_factor(), self.input_bias()).view(
            *embedded.shape[:-1], -1
        )


def scan(units: list[GRUCell], projected: list[Tensor], start: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute the states of one or more units that read at the same time.

    Args:
        units: the D directions.
        projected: the pre-activations of each direction, (T, B, 3N), in its reading order.
        start: h_0, (D, B, N).
        mask: 0 where a direction reads padding, else 1, (T, D, B); None if there is no padding.

    Returns:
        h_0..h_T, (T+1, D, B, N).
    """
    together, first = torch.stack(projected, dim=1), units[0]

    def gates() -> Tensor:
        return torch.stack([unit.gate_weights() for unit in units])

    def candidate() -> Tensor:
        return torch.stack([unit.U for unit in units])

    if first.fixed:
        factors = (
            first.prepared_weight("gates of all", gates),
            first.prepared_weight("candidates of all", candidate),
        )
        return recurrence(first.backend.unfused(), together, start, *factors, mask)[0]
    states: Tensor = GatedScan.apply(  # type: ignore[no-untyped-call]
        first.backend, together, start, gates(), candidate(), mask
    )
    return states


def recurrence(
    backend: Backend,
    projected: Tensor,
    start: Tensor,
    by_gates: Factor,
    by_candidate: Factor,
    mask: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return h_0..h_T (T+1, D, B, N), gates (T, D, B, 2N) and candidates (T, D, B, N); see `GatedScan.forward`."""
    steps, directions, batch, width = projected.shape
    hidden = width // 3
    states = projected.new_empty(steps + 1, directions, batch, hidden)
    gates = projected.new_empty(steps, directions, batch, 2 * hidden)
    candidates = projected.new_empty(steps, directions, batch, hidden)
    states[0] = start
    for t in range(steps):
        step_mask = None if mask is None else mask[t].unsqueeze(2)
        out = gates[t], candidates[t], states[t + 1]
        recurrent = backend.product(states[t], by_gates)
        gated_step(backend, projected[t], recurrent, states[t], by_candidate, step_mask, out)
    return states, gates, candidates


def gated_step(
    backend: Backend,
    projected: Tensor,
    recurrent: Tensor,
    state: Tensor,
    U: Factor,
    mask: Tensor | None,
    out: tuple[Tensor, Tensor, Tensor],
) -> None:
    """Fill `out` with gates [z | r] (..., B, 2N), candidate (..., B, N) and new state (..., B, N).

    `projected` and `recurrent` are the terms of the pre-activations. Scans compute the second, h [U_z | U_r],
    (..., B, 2N), together with other products of the state. A padded step, 0 in `mask` (..., B, 1), has update gate 0,
    so the state does not change.
    """
    gates, candidate, after = out
    reset_state = open_gates(projected, recurrent, state, mask, gates, fuse=backend.fuse)
    from_reset = backend.product(reset_state, U)
    update_state(from_reset, projected, state, gates, candidate, after, backend.by_sigmoid, fuse=backend.fuse)


@fusible()
def open_gates(
    projected: Tensor, recurrent: Tensor, state: Tensor, mask: Tensor | None, out: Tensor
) -> Tensor:
    """Fill `out` with the gates, and return r * h."""
    hidden = state.shape[-1]
    gates = torch.add(projected[..., : 2 * hidden], recurrent).sigmoid_()
    if mask is not None:
        gates[..., :hidden] *= mask
    out.copy_(gates)
    return gates[..., hidden:] * state


@fusible()
def update_state(
    from_reset: Tensor,
    projected: Tensor,
    state: Tensor,
    gates: Tensor,
    out: Tensor,
    after: Tensor,
    by_sigmoid: bool,
) -> None:
    """Fill `out` with the candidate, tanh(U [r * h] + projected), and `after` with the state h + z (c - h)."""
    hidden = state.shape[-1]
    candidate = tanh_(torch.add(from_reset, projected[..., 2 * hidden :]), by_sigmoid)
    out.copy_(candidate)
    after.copy_(torch.lerp(state, candidate, gates[..., :hidden]))


def gated_step_backward(
    backend: Backend,
    grad: Tensor,
    gates: Tensor,
    candidate: Tensor,
    state: Tensor,
    U_t: Factor,
    grad_projected: Tensor,
) -> Tensor:
    """Compute the gradient through one step, except for the path through `recurrent`.

    Args:
        grad: the gradient of the new state, (..., B, N).
        gates, candidate: as `gated_step` returned them.
        state: the state before the step, (..., B, N).
        U_t: U transposed.
        grad_projected: (..., B, 3N), filled with the gradient of the pre-activations [z | r | candidate].

    Returns:
        The gradient of the state before the step, (..., B, N), without the path through `recurrent`. The gradient of
        `recurrent` is the first 2N columns of `grad_projected`.
    """
    grad_candidate = candidate_gradient(grad, gates, candidate, state, grad_projected, fuse=backend.fuse)
    grad_reset_state = backend.product(grad_candidate, U_t)
    before: Tensor = state_gradient(grad, gates, state, grad_reset_state, grad_projected, fuse=backend.fuse)
    return before


@fusible()
def candidate_gradient(
    grad: Tensor, gates: Tensor, candidate: Tensor, state: Tensor, grad_projected: Tensor
) -> Tensor:
    """Fill the columns of `grad_projected` for z and the candidate, and return the latter."""
    hidden = state.shape[-1]
    update = gates[..., :hidden]
    through_candidate = grad * update
    grad_candidate = torch.addcmul(through_candidate, through_candidate, candidate * candidate, value=-1)
    grad_projected[..., 2 * hidden :] = grad_candidate
    slope = torch.addcmul(update, update, update, value=-1)
    grad_projected[..., :hidden] = (candidate - state).mul_(grad) * slope
    return grad_candidate


@fusible()
def state_gradient(
    grad: Tensor, gates: Tensor, state: Tensor, grad_reset_state: Tensor, grad_projected: Tensor
) -> Tensor:
    """Fill the columns of `grad_projected` for r, and return the gradient of the state before the step."""
    hidden = state.shape[-1]
    update, reset = gates[..., :hidden], gates[..., hidden:]
    slope = torch.addcmul(reset, reset, reset, value=-1)
    grad_projected[..., hidden : 2 * hidden] = grad_reset_state * state * slope
    return torch.sub(grad, grad * update).addcmul_(grad_reset_state, reset)


class GatedScan(torch.autograd.Function):
    """The recurrence over T steps with a hand-written backward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        projected: Tensor,
        start: Tensor,
        U_gates: Tensor,
        U: Tensor,
        mask: Tensor | None,
    ) -> Tensor:
        """Return h_0..h_T, (T+1, D, B, N), from (T, D, B, 3N), (D, B, N), (D, N, 2N), (D, N, N) and (T, D, B)."""
        ctx.backend = backend if any(ctx.needs_input_grad) else backend.unfused()
        factors = backend.prepare_weight(U_gates), backend.prepare_weight(U)
        states, gates, candidates = recurrence(ctx.backend, projected, start, *factors, mask)
        ctx.save_for_backward(states, gates, candidates, U_gates, U)
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients in the order of the arguments; backend and mask have none."""
        backend, (grad_states,) = ctx.backend, grads
        states, gates, candidates, U_gates, U = ctx.saved_tensors
        steps, directions, batch, hidden = candidates.shape
        grad_projected = gates.new_empty(steps, directions, batch, 3 * hidden)
        gates_back, candidate_back = backend.prepare_weight(U_gates.mT), backend.prepare_weight(U.mT)
        grad_states = grad_states.contiguous()
        grad = grad_states[steps]
        for t in reversed(range(steps)):
            before = gated_step_backward(
                backend, grad, gates[t], candidates[t], states[t], candidate_back, grad_projected[t]
            )
            backend.add_product(before, grad_projected[t, :, :, : 2 * hidden], gates_back)
            grad = before.add_(grad_states[t])
        of_directions = (part.transpose(0, 1).flatten(1, 2) for part in (states[:-1], gates, grad_projected))
        grad_U_gates, grad_U = recurrent_gradients(backend, *of_directions)
        return None, grad_projected, grad, grad_U_gates, grad_U, None


def recurrent_gradients(
    backend: Backend, states: Tensor, gates: Tensor, grad_projected: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of [U_z | U_r] (..., N, 2N) and U (..., N, N), each as one product over all P positions.

    The P positions are all steps of all sentences. `states` (..., P, N) are those before each step; `gates` is
    (..., P, 2N), `grad_projected` (..., P, 3N).
    """
    hidden = states.shape[-1]
    reset = gates[..., hidden:]
    return (
        backend.product(states.mT, grad_projected[..., : 2 * hidden]),
        backend.product((reset * states).mT, grad_projected[..., 2 * hidden :]),
    )
