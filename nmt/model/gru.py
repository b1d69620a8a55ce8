"""The gated hidden unit (GRU) and its fast scan (paper, App. A.1.1 and A.2.2; Cho et al. 2014a).

The unit applies the reset gate BEFORE the matrix product, U [r * h], as the paper defines it. cuDNN's GRU does not do
this.

The caller computes everything that does not depend on the previous state, as one product over all steps. The scan below
contains only the recurrent products. It runs several directions at once, so that both directions of the encoder share
each step. Its backward pass is written by hand: it keeps the states and gates, and computes the gradient of each weight
as one product at the end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nmt.backend.compiled import fusible
from nmt.backend.matmul import Backend, BackendModule, PreparedWeight, tanh_
from nmt.model.weights import create_weight


class GRUCell(BackendModule):
    """Weights of a gated unit: W, W_z, W_r (M, N), U, U_z, U_r (N, N) and, with a context, C, C_z, C_r (C, N).

    The bias `b` belongs to the candidate's input projection, as in the authors' code; the gates have none.
    """

    def __init__(self, input_size: int, hidden_size: int, context_size: int = 0) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.W, self.W_z, self.W_r = (create_weight(input_size, hidden_size) for _ in range(3))
        self.U, self.U_z, self.U_r = (create_weight(hidden_size, hidden_size) for _ in range(3))
        if context_size:
            self.C, self.C_z, self.C_r = (create_weight(context_size, hidden_size) for _ in range(3))
        self.b = create_weight(hidden_size)

    def input_weights(self) -> Tensor:
        """The matrix [W_z | W_r | W], (M, 3N). Pre-activations have the same order in all scans."""
        return torch.cat([self.W_z, self.W_r, self.W], dim=1)

    def context_weights(self) -> Tensor:
        """The matrix [C_z | C_r | C], (C, 3N)."""
        return torch.cat([self.C_z, self.C_r, self.C], dim=1)

    def gate_weights(self) -> Tensor:
        """The matrix [U_z | U_r], (N, 2N)."""
        return torch.cat([self.U_z, self.U_r], dim=1)

    def input_bias(self) -> Tensor:
        """The biases of the three pre-activations, (3N,)."""
        return torch.cat([self.b.new_zeros(2 * self.hidden_size), self.b])

    def project(self, embedded: Tensor) -> Tensor:
        """Return W E x + b of gates and candidate for all steps at once: (..., M) -> (..., 3N)."""
        W = self.prepare_once("input", self.input_weights)
        flat_embedded = embedded.reshape(-1, embedded.shape[-1])
        return self.backend.affine(flat_embedded, W, self.input_bias()).view(*embedded.shape[:-1], -1)


def scan_gru(
    cells: list[GRUCell], projected: list[Tensor], start: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Return the states h_0..h_T, (T+1, D, B, N), of one or more cells that read at the same time.

    Args:
        cells: the D directions.
        projected: the pre-activations of each direction, (T, B, 3N), in its reading order.
        start: h_0, (D, B, N).
        mask: 0 where a direction reads padding, else 1, (T, D, B); None if there is no padding.
    """
    pre_activations = torch.stack(projected, dim=1)  # (T, D, B, 3N)
    cell = cells[0]

    def stack_gates() -> Tensor:  # (D, N, 2N)
        return torch.stack([direction.gate_weights() for direction in cells])

    def stack_candidates() -> Tensor:  # (D, N, N)
        return torch.stack([direction.U for direction in cells])

    # Frozen weights are prepared once. Otherwise, `GRUScan` computes their gradients.
    if cell.is_frozen:
        U_gates = cell.prepare_once("gates of all directions", stack_gates)
        U = cell.prepare_once("candidates of all directions", stack_candidates)
        states, _, _ = run_recurrence(cell.backend.unfused(), pre_activations, start, U_gates, U, mask)
    else:
        states = GRUScan.apply(  # type: ignore[no-untyped-call]
            cell.backend, pre_activations, start, stack_gates(), stack_candidates(), mask
        )
    return states


class GRUScan(torch.autograd.Function):
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
        """Return h_0..h_T, (T+1, D, B, N).

        Args:
            projected: the pre-activations of all directions, (T, D, B, 3N).
            start: h_0, (D, B, N).
            U_gates: the matrices [U_z | U_r], (D, N, 2N).
            U: the matrices of the candidates, (D, N, N).
            mask: 0 where a direction reads padding, else 1, (T, D, B); None if there is no padding.
        """
        ctx.backend = choose_scan_backend(ctx, backend)
        states, gates, candidates = run_recurrence(
            ctx.backend,
            projected,
            start,
            U_gates=backend.prepare_weight(U_gates),
            U=backend.prepare_weight(U),
            mask=mask,
        )
        ctx.save_for_backward(states, gates, candidates, U_gates, U)
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients in the order of the arguments; backend and mask have none."""
        backend, grad_states = ctx.backend, grads[0].contiguous()
        states, gates, candidates, U_gates, U = ctx.saved_tensors
        T, D, B, N = candidates.shape
        grad_projected = gates.new_empty(T, D, B, 3 * N)
        transposed_U_gates, transposed_U = backend.prepare_weight(U_gates.mT), backend.prepare_weight(U.mT)

        # From the last step to the first: dL/dh_{t-1} is the gradient through step t, plus the gradient that
        # the caller gives for the returned state h_{t-1}.
        grad = grad_states[T]
        for t in reversed(range(T)):
            grad_before = backward_gru_step(
                backend,
                grad,
                gates=gates[t],
                candidate=candidates[t],
                state=states[t],
                transposed_U=transposed_U,
                grad_projected=grad_projected[t],
            )
            backend.add_product(grad_before, grad_projected[t, :, :, : 2 * N], transposed_U_gates)
            grad = grad_before.add_(grad_states[t])

        # the weights of each direction, over all its steps and sentences: (D, T * B, ...)
        grad_U_gates, grad_U = compute_recurrent_gradients(
            backend,
            states=states[:-1].transpose(0, 1).flatten(1, 2),
            gates=gates.transpose(0, 1).flatten(1, 2),
            grad_projected=grad_projected.transpose(0, 1).flatten(1, 2),
        )
        return None, grad_projected, grad, grad_U_gates, grad_U, None


def choose_scan_backend(ctx: Any, backend: Backend) -> Backend:
    """Return the backend of a scan's steps, which are compiled for training only.

    Batches of a development set have many sizes, each of which would need code of its own.
    """
    return backend if any(ctx.needs_input_grad) else backend.unfused()


def run_recurrence(
    backend: Backend,
    projected: Tensor,
    start: Tensor,
    U_gates: PreparedWeight,
    U: PreparedWeight,
    mask: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return h_0..h_T (T+1, D, B, N), gates (T, D, B, 2N) and candidates (T, D, B, N); see `GRUScan.forward`."""
    T, D, B, _ = projected.shape
    N = start.shape[2]
    states = projected.new_empty(T + 1, D, B, N)
    gates = projected.new_empty(T, D, B, 2 * N)
    candidates = projected.new_empty(T, D, B, N)
    states[0] = start
    for t in range(T):
        write_gru_step(
            backend,
            projected=projected[t],
            recurrent=backend.product(states[t], U_gates),
            state=states[t],
            U=U,
            mask=None if mask is None else mask[t].unsqueeze(2),
            gates=gates[t],
            candidate=candidates[t],
            next_state=states[t + 1],
        )
    return states, gates, candidates


def write_gru_step(
    backend: Backend,
    projected: Tensor,
    recurrent: Tensor,
    state: Tensor,
    U: PreparedWeight,
    mask: Tensor | None,
    gates: Tensor,
    candidate: Tensor,
    next_state: Tensor,
) -> None:
    """Compute a step of the gated unit, and write its values into `gates`, `candidate` and `next_state`.

    Args:
        projected: terms of the pre-activations [z | r | candidate] from word and context, (..., B, 3N).
        recurrent: h [U_z | U_r], (..., B, 2N), which scans compute together with other products of the state.
        state: h before the step, (..., B, N).
        U: the candidate's recurrent weight.
        mask: 0 for a padded step, else 1, (..., B, 1). A padded step has update gate 0, so the state does not change.
            None if no step is padded.
        gates, candidate: to be filled with [z | r], (..., B, 2N), and the candidate, (..., B, N).
        next_state: to be filled with h after the step, (..., B, N).
    """
    reset_state = write_gates(projected, recurrent, state, mask, gates, fuse=backend.fuse)
    update_state(
        reset_product=backend.product(reset_state, U),
        projected=projected,
        state=state,
        gates=gates,
        candidate=candidate,
        next_state=next_state,
        fast_tanh=backend.fast_tanh,
        fuse=backend.fuse,
    )


@fusible()
def write_gates(
    projected: Tensor, recurrent: Tensor, state: Tensor, mask: Tensor | None, gates: Tensor
) -> Tensor:
    """Write the gates [z | r] into `gates`, and return r * h; see `write_gru_step` for the arguments."""
    N = state.shape[-1]
    values = torch.add(projected[..., : 2 * N], recurrent).sigmoid_()
    if mask is not None:
        values[..., :N] *= mask
    gates.copy_(values)
    return values[..., N:] * state


@fusible()
def update_state(
    reset_product: Tensor,
    projected: Tensor,
    state: Tensor,
    gates: Tensor,
    candidate: Tensor,
    next_state: Tensor,
    fast_tanh: bool,
) -> None:
    """Write tanh(U [r * h] + projected candidate) into `candidate`, and h + z (candidate - h) into `next_state`.

    `reset_product` is U [r * h]; for the other arguments, see `write_gru_step`.
    """
    N = state.shape[-1]
    z, projected_candidate = gates[..., :N], projected[..., 2 * N :]
    values = tanh_(torch.add(reset_product, projected_candidate), fast_tanh)
    candidate.copy_(values)
    next_state.copy_(torch.lerp(state, values, z))


def backward_gru_step(
    backend: Backend,
    grad: Tensor,
    gates: Tensor,
    candidate: Tensor,
    state: Tensor,
    transposed_U: PreparedWeight,
    grad_projected: Tensor,
) -> Tensor:
    """Return the gradient of the state before a step, (..., B, N), without its part through `recurrent`.

    The caller adds that part. The gradient of `recurrent` is the first 2N columns of `grad_projected`.

    Args:
        grad: the gradient of the state after the step, (..., B, N).
        gates, candidate: the values of the step, see `write_gru_step`.
        state: the state before the step, (..., B, N).
        grad_projected: (..., B, 3N), to be filled with the gradient of the pre-activations [z | r | candidate].
    """
    grad_candidate = write_candidate_gradient(
        grad, gates, candidate, state, grad_projected, fuse=backend.fuse
    )
    grad_reset_state = backend.product(grad_candidate, transposed_U)
    return write_reset_gradient(grad, gates, state, grad_reset_state, grad_projected, fuse=backend.fuse)


@fusible()
def write_candidate_gradient(
    grad: Tensor, gates: Tensor, candidate: Tensor, state: Tensor, grad_projected: Tensor
) -> Tensor:
    """Fill the columns of `grad_projected` for z and the candidate. Return those of the candidate, (..., B, N).

    For the arguments, see `backward_gru_step`.
    """
    N = state.shape[-1]
    z = gates[..., :N]  # the update gate

    # the candidate's gradient: dL/dh z (1 - candidate^2)
    grad_activation = grad * z
    grad_candidate = torch.addcmul(grad_activation, grad_activation, candidate * candidate, value=-1)
    grad_projected[..., 2 * N :] = grad_candidate

    # the update gate's gradient: dL/dh (candidate - h) z (1 - z)
    slope = torch.addcmul(z, z, z, value=-1)
    grad_projected[..., :N] = (candidate - state).mul_(grad) * slope
    return grad_candidate


@fusible()
def write_reset_gradient(
    grad: Tensor, gates: Tensor, state: Tensor, grad_reset_state: Tensor, grad_projected: Tensor
) -> Tensor:
    """Fill the columns of `grad_projected` for r, and return the gradient of the state before the step.

    `grad_reset_state` is the gradient of r * h; for the other arguments, see `backward_gru_step`.
    """
    N = state.shape[-1]
    z, r = gates[..., :N], gates[..., N:]  # update gate and reset gate

    # the reset gate's gradient: dL/d(r h) h r (1 - r)
    slope = torch.addcmul(r, r, r, value=-1)
    grad_projected[..., N : 2 * N] = grad_reset_state * state * slope

    # the gradient of h: dL/dh (1 - z) + dL/d(r h) r
    return torch.sub(grad, grad * z).addcmul_(grad_reset_state, r)


def compute_recurrent_gradients(
    backend: Backend, states: Tensor, gates: Tensor, grad_projected: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the recurrent weights of both gates, (..., N, 2N), and of the candidate, (..., N, N).

    Each is one matrix product over P positions, which are all steps of all sentences.

    Args:
        states: the states before each step, (..., P, N).
        gates: [z | r], (..., P, 2N).
        grad_projected: gradients of the inputs of the gates z and r and of the candidate, (..., P, 3N).
    """
    N = states.shape[-1]
    reset_states = gates[..., N:] * states
    grad_U_gates = backend.product(states.mT, grad_projected[..., : 2 * N])
    grad_U = backend.product(reset_states.mT, grad_projected[..., 2 * N :])
    return grad_U_gates, grad_U
