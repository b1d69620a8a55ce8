"""The alignment model and the decoder's recurrence over it (paper, Sec. 3.1 and App. A.1.2, A.2.2).

Shapes: B sentences, S source length, T target length, K hypotheses per sentence, N hidden units, A alignment units,
C annotation size (2N).

    e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)          the alignment model, App. A.1.2
    alpha_i = softmax_j(e_ij),  c_i = sum_j alpha_ij h_j   Eqs. 5 and 6
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.backend.products import Backend, Module, tanh_
from nmt.model.gru import gated_step, gated_step_backward, recurrent_gradients
from nmt.model.weights import create_weight

ACTIVATIONS_PER_BLOCK = {"cpu": 1 << 18, "cuda": 1 << 28}
"""Activations of the alignment model computed at once: few enough to stay in a CPU's cache, and 1 GB on a GPU."""
IN_SEARCH = 4
"""So many times as many in a search on a CPU, where hypotheses share their keys. Training keeps its last digits."""


class Alignment(Module):
    """The weights W_a (N, A), U_a (C, A) and v_a (A,) of the alignment model; no bias, as in the authors' code."""

    def __init__(self, hidden: int, annotation: int, units: int) -> None:
        super().__init__()
        self.W_a, self.U_a = create_weight(hidden, units), create_weight(annotation, units)
        self.v_a = nn.Parameter(torch.empty(units))

    def keys(self, annotations: Tensor) -> Tensor:
        """Return U_a h_j, which does not depend on i and is computed once: (B, S, C) -> (B, S, A)."""
        return self.backend.product(annotations, self.prepared_weight("keys", lambda: self.U_a))

    def attend(self, state: Tensor, keys: Tensor, padding: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return alpha_i (B, K, S) and sum_j alpha_ij values_j (B, K, X) for states (B, K, N); see `attend`."""
        queries = self.backend.product(state, self.prepared_weight("queries", lambda: self.W_a))
        weights, attended = attend(queries, keys, self.v_a, padding, values, self.backend.by_sigmoid)
        return weights, attended


class AttentionScan(torch.autograd.Function):
    """Computes s_i = f(s_{i-1}, input_i, c_i) for all steps, with a hand-written backward pass.

    The recurrence does without c_i. Its unit reads [C_z C_r C] c_i = sum_j alpha_ij ([C_z C_r C] h_j), and what stands
    in brackets is one product for all j. The contexts c_1..c_T themselves are one product after the recurrence.

    The backward pass computes the (B, S, A) activations of the alignment model again. To keep them would take T times
    the memory of the keys.
    """

    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        projected: Tensor,
        start: Tensor,
        annotations: Tensor,
        keys: Tensor,
        padding: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U_gates: Tensor,
        U: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run the recurrence.

        Args:
            projected: the terms of the pre-activations that depend on the words, (T, B, 3N).
            start: s_0, (B, N).
            annotations, keys: h_j (B, S, C) and U_a h_j (B, S, A).
            padding: True where the source is padding, (B, S).
            W_a, v_a, U_gates, U, C: weights (N, A), (A,), (N, 2N), (N, N), (C, 3N).

        Returns:
            States s_0..s_T (T+1, B, N), contexts c_1..c_T (T, B, C) and weights alpha (T, B, S), of which the last
            takes no gradient.
        """
        steps, batch, width = projected.shape
        hidden, units = width // 3, keys.shape[2]
        states = projected.new_empty(steps + 1, batch, hidden)
        gates = projected.new_empty(steps, batch, 2 * hidden)
        candidates = projected.new_empty(steps, batch, hidden)
        queries = projected.new_empty(steps, batch, units)
        weights = projected.new_empty(steps, batch, keys.shape[1])

        from_state = torch.cat([W_a, U_gates], dim=1)
        by_state, by_candidate = backend.prepare_weight(from_state), backend.prepare_weight(U)
        shares = backend.product(annotations, C)  # (B, S, 3N)
        padding = padding.contiguous()
        # not where a development set is scored, whose batches have many sizes
        ctx.backend = backend = backend if any(ctx.needs_input_grad) else backend.unfused()

        states[0] = start
        for t in range(steps):
            products = backend.product(states[t], by_state)
            queries[t] = products[:, :units]
            alpha, share = attend(
                queries[t].unsqueeze(1),
                keys,
                v_a,
                padding,
                shares,
                backend.by_sigmoid,
                fuse=backend.fuse,
            )
            weights[t] = alpha.squeeze(1)
            given = share.squeeze(1).add_(projected[t])
            out = gates[t], candidates[t], states[t + 1]
            gated_step(backend, given, products[:, units:], states[t], by_candidate, None, out)

        contexts = torch.bmm(weights.transpose(0, 1), annotations).transpose(0, 1)  # (T, B, C)
        ctx.save_for_backward(
            states, gates, candidates, queries, contexts, weights, annotations, shares, keys,
            from_state, v_a, U, C,
        )  # fmt: skip
        ctx.mark_non_differentiable(weights)
        return states, contexts, weights

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients in the order of the arguments; backend and padding have none."""
        backend, (grad_states, grad_contexts, _) = ctx.backend, grads
        (
            states, gates, candidates, queries, contexts, weights, annotations, shares, keys,
            from_state, v_a, U, C,
        ) = ctx.saved_tensors  # fmt: skip
        steps, batch, hidden = candidates.shape
        units = keys.shape[2]
        grad_projected = gates.new_empty(steps, batch, 3 * hidden)
        grad_products = gates.new_empty(steps, batch, units + 2 * hidden)
        grad_energies = torch.empty_like(weights)
        squares, grad_v = torch.zeros_like(keys), keys.new_zeros(batch, units)
        grad_states = grad_states.contiguous()
        state_back, candidate_back = backend.prepare_weight(from_state.t()), backend.prepare_weight(U.t())

        # dL/d alpha_ij by way of the output layer, which reads c_i: <h_j, dL/dc_i>, (T, B, S)
        known = torch.bmm(grad_contexts.transpose(0, 1), annotations.mT).transpose(0, 1).contiguous()

        grad = grad_states[steps]
        for t in reversed(range(steps)):
            before = gated_step_backward(
                backend, grad, gates[t], candidates[t], states[t], candidate_back, grad_projected[t]
            )
            attend_backward(
                weights[t], shares, grad_projected[t], known[t], keys, queries[t], v_a, grad_energies[t],
                grad_products[t, :, :units], squares, grad_v, backend.by_sigmoid, fuse=backend.fuse,
            )  # fmt: skip
            grad_products[t, :, units:] = grad_projected[t, :, : 2 * hidden]
            backend.add_product(before, grad_products[t], state_back)
            grad = before.add_(grad_states[t])

        # every weight's gradient is one product over all steps
        past, flat = states[:-1].view(-1, hidden), grad_projected.flatten(0, 1)
        grad_W_a = backend.product(past.t(), grad_products.flatten(0, 1)[:, :units])
        grad_U_gates, grad_U = recurrent_gradients(backend, past, gates.view(-1, 2 * hidden), flat)
        grad_C = backend.product(contexts.flatten(0, 1).t(), flat)
        grad_keys, grad_v = keys_backward(
            grad_energies, queries, keys, v_a, squares, grad_v, fuse=backend.fuse
        )

        # dL/dc_i by way of the unit and of the output layer, and d c_i / d h_j = alpha_ij
        grad_contexts = backend.product(flat, C.t()).view_as(contexts) + grad_contexts
        grad_annotations = torch.bmm(weights.permute(1, 2, 0), grad_contexts.transpose(0, 1))
        return (
            None, grad_projected, grad, grad_annotations, grad_keys, None, grad_W_a, grad_v,
            grad_U_gates, grad_U, grad_C,
        )  # fmt: skip


def attend_fused(
    queries: Tensor, keys: Tensor, v_a: Tensor, padding: Tensor, values: Tensor, by_sigmoid: bool
) -> tuple[Tensor, Tensor]:
    """Do what `attend` does for one query a sentence, in expressions of which a compiler makes two kernels."""
    assert queries.shape[1] == 1
    energy = (torch.tanh(keys.unsqueeze(1) + queries.unsqueeze(2)) * v_a).sum(dim=3)
    alpha = energy.masked_fill(padding.unsqueeze(1), -torch.inf).softmax(dim=2)
    return alpha, (alpha.transpose(1, 2) * values).sum(dim=1, keepdim=True)


@fusible(fused=attend_fused, keys=1, padding=1, values=1)
def attend(
    queries: Tensor, keys: Tensor, v_a: Tensor, padding: Tensor, values: Tensor, by_sigmoid: bool
) -> tuple[Tensor, Tensor]:
    """Return alpha_i (B, K, S) and sum_j alpha_ij values_j (B, K, X) for queries W_a s_{i-1} (B, K, A), Eqs. 5 and 6.

    `keys` (B, S, A) are U_a h_j, and `values` (B, S, X) what is summed: a linear function of the annotations.
    In training, a sentence has one query. In a search, all hypotheses of a sentence share its keys.
    """
    energy = queries.new_empty(*queries.shape[:2], keys.shape[1])
    for rows, some, activation in activations(keys, queries, by_sigmoid):
        energy[rows, some] = activation @ v_a
    alpha = energy.masked_fill(padding.unsqueeze(1), -torch.inf).softmax(dim=2)
    return alpha, torch.bmm(alpha, values)


def activations(keys: Tensor, queries: Tensor, by_sigmoid: bool) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield tanh(W_a s + U_a h_j), (b, k, S, A), of some sentences and some of their queries, for `attend`'s arguments.

    Each group reuses the memory of the group before.
    """
    batch, hypotheses, units = queries.shape
    at_once = ACTIVATIONS_PER_BLOCK[keys.device.type]
    if hypotheses > 1 and keys.device.type == "cpu":
        at_once *= IN_SEARCH
    size = max(1, at_once // (keys.shape[1] * units))
    sentences, each = min(batch, max(1, size // hypotheses)), min(size, hypotheses)
    buffer = keys.new_empty(sentences, each, keys.shape[1], units)
    for first in range(0, batch, sentences):
        rows = slice(first, min(first + sentences, batch))
        for place in range(0, hypotheses, each):
            some = slice(place, min(place + each, hypotheses))
            activation = buffer[: rows.stop - first, : some.stop - place]
            torch.add(keys[rows].unsqueeze(1), queries[rows, some].unsqueeze(2), out=activation)
            yield rows, some, tanh_(activation, by_sigmoid)


def attend_backward_fused(
    weights: Tensor, values: Tensor, grad_sum: Tensor, known: Tensor, keys: Tensor, query: Tensor,
    v_a: Tensor, grad_energy: Tensor, grad_query: Tensor, squares: Tensor, grad_v: Tensor, by_sigmoid: bool,
) -> None:  # fmt: skip
    """Do what `attend_backward` does, but for the sums, which `keys_backward_fused` computes at once.

    To read and write the sums at each step would take a GPU longer than to compute the activations once more.
    """
    grad_weights = known + (values * grad_sum.unsqueeze(1)).sum(dim=2)
    grads = weights * (grad_weights - (weights * grad_weights).sum(dim=1, keepdim=True))
    grad_energy.copy_(grads)
    activation = torch.tanh(keys + query.unsqueeze(1))
    slope = 1 - activation * activation
    grad_query.copy_((grads.unsqueeze(2) * slope).sum(dim=1) * v_a)


@fusible(fused=attend_backward_fused, weights=1, values=1, known=1, keys=1, grad_energy=1, squares=1)
def attend_backward(
    weights: Tensor, values: Tensor, grad_sum: Tensor, known: Tensor, keys: Tensor, query: Tensor,
    v_a: Tensor, grad_energy: Tensor, grad_query: Tensor, squares: Tensor, grad_v: Tensor, by_sigmoid: bool,
) -> None:  # fmt: skip
    """Go back through one step of `attend`: fill dL/de_i (B, S) and dL/dq_i (B, A), and add to two sums over the steps.

    With a = tanh(q_i + k_j) and g = dL/de_ij, dL/dq_i is v_a * sum_j g (1 - a^2).

    Args:
        weights, query: alpha_i (B, S) and q_i (B, A).
        values, keys, v_a: see `attend`.
        grad_sum: the gradient of the sum of values, (B, X).
        known: the other part of dL/d alpha_i, (B, S).
        squares, grad_v: the sums over all steps of g a^2 (B, S, A), and of g a over positions (B, A).
    """
    grad_weights = torch.baddbmm(known.unsqueeze(2), values, grad_sum.unsqueeze(2)).squeeze(2)
    # that of the softmax, which is 0 on padding, whose weight is 0
    grads = weights * (grad_weights - (weights * grad_weights).sum(dim=1, keepdim=True))
    grad_energy.copy_(grads)
    of_squares = torch.empty_like(query)
    for rows, _, found in activations(keys, query.unsqueeze(1), by_sigmoid):
        activation = found.squeeze(1)
        some = grads[rows]
        grad_v[0].addmv_(activation.flatten(0, 1).t(), some.reshape(-1))
        square = activation.mul_(activation)
        of_squares[rows] = torch.bmm(some.unsqueeze(1), square).squeeze(1)
        squares[rows].addcmul_(square, some.unsqueeze(2))
    grad_query.copy_((grads.sum(dim=1, keepdim=True) - of_squares) * v_a)


def keys_backward_fused(
    grad_energies: Tensor, queries: Tensor, keys: Tensor, v_a: Tensor, squares: Tensor, grad_v: Tensor
) -> tuple[Tensor, Tensor]:
    """Do what `keys_backward` does, from the activations of all steps instead of sums that the steps have made."""
    activation = torch.tanh(queries.unsqueeze(2) + keys)  # (T, B, S, A), which exists in registers only
    grads = grad_energies.unsqueeze(3)
    slope = 1 - activation * activation
    return v_a * (grads * slope).sum(dim=0), (grads * activation).sum(dim=0).sum(dim=(0, 1))


@fusible(fused=keys_backward_fused, grad_energies=(0, 2), queries=0, keys=1, squares=1)
def keys_backward(
    grad_energies: Tensor, queries: Tensor, keys: Tensor, v_a: Tensor, squares: Tensor, grad_v: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the keys (B, S, A), v_a * sum_i g (1 - a^2), and of v_a (A,), sum_ij g a.

    Args:
        grad_energies, queries: g of all steps, (T, B, S), and q_i, (T, B, A).
        keys, v_a: see `attend`.
        squares, grad_v: what the steps of `attend_backward` have summed up.
    """
    sums = grad_energies.sum(dim=0).unsqueeze(2)
    return torch.sub(sums, squares, out=squares).mul_(v_a), grad_v.sum(dim=0)
