"""The gated hidden unit and its fast scan (paper, App. A.1.1 and A.2.2; Cho et al. 2014a).

Shapes: B sentences, T steps, N hidden units, M embedding size, C context size. Vectors are rows, so a weight is
(inputs, outputs). The unit here applies the reset gate BEFORE the matrix product, U [r * h], which is what the paper
defines and what cuDNN's GRU does not do.

Everything that does not depend on the previous state is one product over all steps, made by the caller; the scan
below holds only the recurrent products. Its backward pass is written by hand: it keeps the states and gates and makes
each weight gradient one product at the end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def weight(inputs: int, outputs: int) -> nn.Parameter:
    """A matrix (inputs, outputs) that `nmt.initialize` will fill."""
    return nn.Parameter(torch.empty(inputs, outputs))


class GatedUnit(nn.Module):
    """Weights of one gated unit: W, W_z, W_r (M, N), U, U_z, U_r (N, N) and, with a context, C, C_z, C_r (C, N).

    The one bias, `b`, stands on the candidate's input projection, as in the authors' code.
    """

    def __init__(self, inputs: int, hidden: int, context: int = 0) -> None:
        super().__init__()
        self.W, self.W_z, self.W_r = (weight(inputs, hidden) for _ in range(3))
        self.U, self.U_z, self.U_r = (weight(hidden, hidden) for _ in range(3))
        if context:
            self.C, self.C_z, self.C_r = (weight(context, hidden) for _ in range(3))
        self.b = nn.Parameter(torch.empty(hidden))

    def input_weights(self) -> Tensor:
        """[W_z | W_r | W], (M, 3N): the order in which scans keep their pre-activations."""
        return torch.cat([self.W_z, self.W_r, self.W], dim=1)

    def context_weights(self) -> Tensor:
        """[C_z | C_r | C], (C, 3N)."""
        return torch.cat([self.C_z, self.C_r, self.C], dim=1)

    def gate_weights(self) -> Tensor:
        """[U_z | U_r], (N, 2N)."""
        return torch.cat([self.U_z, self.U_r], dim=1)

    def input_bias(self) -> Tensor:
        """The candidate's bias in its place among the three pre-activations, (3N,)."""
        return torch.cat([self.b.new_zeros(2 * len(self.b)), self.b])

    def project(self, embedded: Tensor) -> Tensor:
        """W E x of gates and candidate for all steps at once: (..., M) -> (..., 3N)."""
        flat = embedded.reshape(-1, embedded.shape[-1])
        return torch.addmm(self.input_bias(), flat, self.input_weights()).view(*embedded.shape[:-1], -1)

    def scan(self, projected: Tensor, start: Tensor, mask: Tensor | None = None) -> Tensor:
        """States h_1..h_T (T, B, N) from pre-activations (T, B, 3N), h_0 (B, N) and a 0/1 mask (T, B)."""
        states: Tensor = GatedScan.apply(projected, start, self.gate_weights(), self.U, mask)  # type: ignore[no-untyped-call]
        return states

    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        """One update: pre-activations (..., 3N) and h_{i-1} (..., N) give h_i (..., N)."""
        hidden = state.shape[-1]
        gates = torch.sigmoid(projected[..., : 2 * hidden] + state @ self.gate_weights())
        update, reset = gates.chunk(2, dim=-1)
        candidate = torch.tanh(projected[..., 2 * hidden :] + (reset * state) @ self.U)
        return torch.lerp(state, candidate, update)


def gated_step(
    projected: Tensor, recurrent: Tensor, state: Tensor, U: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Gates [z | r] (B, 2N), candidate (B, N) and new state (B, N) from both halves of the pre-activations.

    `recurrent` is h [U_z | U_r], (B, 2N), which scans compute together with other products of the state.
    """
    hidden = state.shape[1]
    gates = (projected[:, : 2 * hidden] + recurrent).sigmoid_()
    candidate = torch.addmm(projected[:, 2 * hidden :], gates[:, hidden:] * state, U).tanh_()
    return gates, candidate, torch.lerp(state, candidate, gates[:, :hidden])


def gated_step_backward(
    grad: Tensor, gates: Tensor, candidate: Tensor, state: Tensor, U: Tensor, grad_projected: Tensor
) -> Tensor:
    """Gradient through one step, but for the path by way of `recurrent`.

    Args:
        grad: of the new state, (B, N).
        gates, candidate: as `gated_step` returned them; a padded step has its update gate set to 0.
        state: the state before the step, (B, N).
        grad_projected: (B, 3N), filled with the gradient of the pre-activations [z | r | candidate].

    Returns:
        The gradient of the state before the step, (B, N), without the share of `recurrent`, whose own gradient is
        the first 2N columns of `grad_projected`.
    """
    hidden = state.shape[1]
    update, reset = gates[:, :hidden], gates[:, hidden:]
    grad_candidate = torch.mul(grad * update, 1 - candidate * candidate, out=grad_projected[:, 2 * hidden :])
    grad_reset_state = grad_candidate @ U.t()
    torch.mul(grad * (candidate - state), update * (1 - update), out=grad_projected[:, :hidden])
    torch.mul(grad_reset_state * state, reset * (1 - reset), out=grad_projected[:, hidden : 2 * hidden])
    return torch.addcmul(grad - grad * update, grad_reset_state, reset)


def recurrent_gradients(states: Tensor, gates: Tensor, grad_projected: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of [U_z | U_r] (N, 2N) and U (N, N), each one product over all steps.

    `states` are those before each step (T, B, N); `gates` (T, B, 2N); `grad_projected` (T, B, 3N).
    """
    hidden = states.shape[-1]
    before = states.reshape(-1, hidden)
    flat = grad_projected.view(-1, 3 * hidden)
    reset = gates.view(-1, 2 * hidden)[:, hidden:]
    return before.t() @ flat[:, : 2 * hidden], (reset * before).t() @ flat[:, 2 * hidden :]


class GatedScan(torch.autograd.Function):
    """The recurrence over T steps with a hand-written backward pass."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, start: Tensor, U_gates: Tensor, U: Tensor, mask: Tensor | None
    ) -> Tensor:
        """States h_1..h_T (T, B, N); arguments as in `GatedUnit.scan`."""
        steps, batch, width = projected.shape
        hidden = width // 3
        states = projected.new_empty(steps + 1, batch, hidden)
        gates = projected.new_empty(steps, batch, 2 * hidden)
        candidates = projected.new_empty(steps, batch, hidden)
        states[0] = start
        for t in range(steps):
            state = states[t]
            step_gates, candidate, new = gated_step(projected[t], state @ U_gates, state, U)
            if mask is not None:  # a padded step has update gate 0 and so carries the state over
                step_gates[:, :hidden] *= mask[t].unsqueeze(1)
                new = torch.lerp(state, candidate, step_gates[:, :hidden])
            gates[t], candidates[t], states[t + 1] = step_gates, candidate, new
        ctx.save_for_backward(states, gates, candidates, U_gates, U)
        return states[1:].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients in the order of the arguments; none for the mask."""
        (grad_states,) = grads
        states, gates, candidates, U_gates, U = ctx.saved_tensors
        steps, batch, hidden = candidates.shape
        grad_projected = gates.new_empty(steps, batch, 3 * hidden)
        grad = torch.zeros_like(states[0])
        for t in reversed(range(steps)):
            grad = grad + grad_states[t]
            grad = gated_step_backward(grad, gates[t], candidates[t], states[t], U, grad_projected[t])
            grad.addmm_(grad_projected[t, :, : 2 * hidden], U_gates.t())
        grad_U_gates, grad_U = recurrent_gradients(states[:-1], gates, grad_projected)
        return grad_projected, grad, grad_U_gates, grad_U, None
