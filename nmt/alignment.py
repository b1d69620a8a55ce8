"""The alignment model and the decoder's recurrence over it (paper, Sec. 3.1 and App. A.1.2, A.2.2).

Shapes: B sentences, S source length, T target length, K hypotheses a sentence, N hidden units, A alignment units,
C annotation size (2N).

    e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)          the alignment model, App. A.1.2
    alpha_i = softmax_j(e_ij),  c_i = sum_j alpha_ij h_j   Eqs. 5 and 6
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nmt.gru import gated_step, gated_step_backward, recurrent_gradients


class Alignment(nn.Module):
    """The weights W_a (N, A), U_a (C, A) and v_a (A,); no bias, as in the authors' code."""

    def __init__(self, hidden: int, annotation: int, units: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(hidden, units))
        self.U_a = nn.Parameter(torch.empty(annotation, units))
        self.v_a = nn.Parameter(torch.empty(units))

    def keys(self, annotations: Tensor) -> Tensor:
        """U_a h_j, which does not depend on i and is computed once: (B, S, C) -> (B, S, A)."""
        return annotations @ self.U_a

    def attend(
        self, state: Tensor, keys: Tensor, annotations: Tensor, padding: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Contexts (B, K, C) and weights (B, K, S) for states (B, K, N), all hypotheses sharing the keys."""
        query = (state @ self.W_a).unsqueeze(2)
        energy = torch.tanh(keys.unsqueeze(1) + query) @ self.v_a
        weights = energy.masked_fill(padding.unsqueeze(1), -torch.inf).softmax(dim=2)
        return torch.bmm(weights, annotations), weights


class AttentionScan(torch.autograd.Function):
    """c_i and s_i for all steps, s_i = f(s_{i-1}, input_i, c_i), with a hand-written backward pass.

    The (B, S, A) activations of the alignment model are computed again on the way back instead of being kept: kept,
    they would take T times the memory of the keys.
    """

    @staticmethod
    def forward(
        ctx: Any,
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
            projected: the words' share of the pre-activations, (T, B, 3N).
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
        contexts = projected.new_empty(steps, batch, annotations.shape[2])
        weights = projected.new_empty(steps, batch, keys.shape[1])
        from_state = torch.cat([W_a, U_gates], dim=1)
        states[0] = start
        for t in range(steps):
            state = states[t]
            products = state @ from_state
            queries[t] = products[:, :units]
            energy = torch.tanh_(keys + queries[t].unsqueeze(1)) @ v_a
            weights[t] = energy.masked_fill_(padding, -torch.inf).softmax(dim=1)
            contexts[t] = torch.bmm(weights[t].unsqueeze(1), annotations).squeeze(1)
            given = torch.addmm(projected[t], contexts[t], C)
            gates[t], candidates[t], states[t + 1] = gated_step(given, products[:, units:], state, U)
        ctx.save_for_backward(
            states, gates, candidates, queries, contexts, weights, annotations, keys, from_state, v_a, U, C
        )
        ctx.mark_non_differentiable(weights)
        return states, contexts, weights

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients in the order of the arguments; none for the padding."""
        grad_states, grad_contexts, _ = grads
        saved = ctx.saved_tensors
        states, gates, candidates, queries, contexts, weights, annotations, keys, from_state, v_a, U, C = (
            saved
        )
        steps, batch, hidden = candidates.shape
        units = keys.shape[2]
        grad_projected = gates.new_empty(steps, batch, 3 * hidden)
        grad_contexts = grad_contexts.clone()
        grad_products = gates.new_empty(steps, batch, units + 2 * hidden)
        grad_keys, grad_v = torch.zeros_like(keys), torch.zeros_like(v_a)
        grad = grad_states[steps].clone()
        for t in reversed(range(steps)):
            grad = gated_step_backward(grad, gates[t], candidates[t], states[t], U, grad_projected[t])
            grad_contexts[t].addmm_(grad_projected[t], C.t())
            grad_energy = softmax_backward(weights[t], annotations, grad_contexts[t])
            activation = torch.tanh_(keys + queries[t].unsqueeze(1))
            grad_v.addmv_(activation.view(-1, units).t(), grad_energy.view(-1))
            through = activation.mul_(activation).neg_().add_(1).mul_(grad_energy.unsqueeze(2)).mul_(v_a)
            grad_keys += through
            grad_products[t, :, :units] = through.sum(dim=1)
            grad_products[t, :, units:] = grad_projected[t, :, : 2 * hidden]
            grad = torch.addmm(grad + grad_states[t], grad_products[t], from_state.t())
        before = states[:-1].reshape(-1, hidden)
        grad_W_a = before.t() @ grad_products.view(-1, units + 2 * hidden)[:, :units]
        grad_U_gates, grad_U = recurrent_gradients(states[:-1], gates, grad_projected)
        grad_C = contexts.view(-1, contexts.shape[2]).t() @ grad_projected.view(-1, 3 * hidden)
        # d c_i / d h_j = alpha_ij: one product over all steps
        grad_annotations = torch.bmm(weights.permute(1, 2, 0), grad_contexts.transpose(0, 1))
        return (
            grad_projected, grad, grad_annotations, grad_keys, None, grad_W_a, grad_v, grad_U_gates, grad_U, grad_C,
        )  # fmt: skip


def softmax_backward(weights: Tensor, annotations: Tensor, grad_context: Tensor) -> Tensor:
    """Gradient of the energies (B, S) from that of the context (B, C); 0 on padding, whose weight is 0."""
    grad_weights = torch.bmm(annotations, grad_context.unsqueeze(2)).squeeze(2)
    inner = (weights * grad_weights).sum(dim=1, keepdim=True)
    return weights * (grad_weights - inner)
