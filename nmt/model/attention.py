"""The alignment model and the decoder's recurrence over it (paper, Sec. 3.1 and App. A.1.2, A.2.2).

    e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)               the alignment model, App. A.1.2
    alpha_i = softmax_j(e_ij),  c_i = sum_j alpha_ij h_j   Eqs. 5 and 6

Here, W_a s_{i-1} is called a query, and U_a h_j a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.backend.matmul import Backend, PreparedWeight, tanh_
from nmt.model.gru import (
    backward_gru_step,
    choose_scan_backend,
    compute_recurrent_gradients,
    write_gru_step,
)
from nmt.model.weights import create_weight

ACTIVATIONS_PER_BLOCK = {"cpu": 1 << 18, "cuda": 1 << 28}
"""Activations of the alignment model computed at once: few enough to stay in a CPU's cache, and 1 GB on a GPU."""
CPU_SEARCH_FACTOR = 4
"""Factor of `ACTIVATIONS_PER_BLOCK` in a search on a CPU, where hypotheses share their keys. Training does without it,
since its gradients would have other last digits."""


class Alignment(nn.Module):
    """The weights W_a (N, A), U_a (C, A) and v_a (A,) of the alignment model; no bias, as in the authors' code."""

    def __init__(self, hidden_size: int, context_size: int, alignment_units: int) -> None:
        super().__init__()
        self.W_a = create_weight(hidden_size, alignment_units)
        self.U_a = create_weight(context_size, alignment_units)
        self.v_a = create_weight(alignment_units)


class AttentionScan(torch.autograd.Function):
    """Computes s_i = f(s_{i-1}, input_i, c_i) for all steps, with a hand-written backward pass.

    The gated unit does not read c_i, but [C_z C_r C] c_i = sum_j alpha_ij ([C_z C_r C] h_j). So one product before the
    recurrence computes [C_z C_r C] h_j for all j, and one product after it the contexts c_1..c_T.

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
        C_all: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run the recurrence.

        Args:
            projected: the terms of the pre-activations that depend on the words, (T, B, 3N).
            start: s_0, (B, N).
            annotations, keys: h_j (B, S, C) and U_a h_j (B, S, A).
            padding: True where the source is padding, (B, S).
            W_a, v_a, U_gates, U, C_all: weights (N, A), (A,), (N, 2N), (N, N), (C, 3N).

        Returns:
            States s_0..s_T (T+1, B, N), contexts c_1..c_T (T, B, C), and weights alpha (T, B, S), which take no
            gradient.
        """
        ctx.backend = choose_scan_backend(ctx, backend)
        W_state = torch.cat([W_a, U_gates], dim=1)  # (N, A + 2N)
        annotation_terms = backend.product(annotations, C_all)  # (B, S, 3N)
        states, gates, candidates, queries, alpha = run_attention_recurrence(
            ctx.backend,
            projected,
            start,
            keys,
            v_a,
            padding=padding.contiguous(),
            annotation_terms=annotation_terms,
            W_state=backend.prepare_weight(W_state),
            U=backend.prepare_weight(U),
        )
        contexts = torch.bmm(alpha.transpose(0, 1), annotations).transpose(0, 1)  # (T, B, C)
        ctx.save_for_backward(
            states, gates, candidates, queries, contexts, alpha, annotations, annotation_terms, keys,
            W_state, v_a, U, C_all,
        )  # fmt: skip
        ctx.mark_non_differentiable(alpha)
        return states, contexts, alpha

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients in the order of the arguments; backend and padding have none."""
        backend = ctx.backend
        (
            states, gates, candidates, queries, contexts, alpha, annotations, annotation_terms, keys,
            W_state, v_a, U, C_all,
        ) = ctx.saved_tensors  # fmt: skip
        T, B, N = candidates.shape
        A = keys.shape[2]
        grad_states, grad_contexts = grads[0].contiguous(), grads[1]
        grad_projected = gates.new_empty(T, B, 3 * N)
        grad_state_products = gates.new_empty(T, B, A + 2 * N)
        grad_energies = torch.empty_like(alpha)
        sum_squares, sum_activations = torch.zeros_like(keys), torch.zeros_like(v_a)  # see `backward_attend`
        transposed_W_state, transposed_U = backend.prepare_weight(W_state.t()), backend.prepare_weight(U.t())

        # dL/d alpha_ij through the output layer, which reads c_i: the dot product of h_j and dL/dc_i, (T, B, S)
        grad_alpha = torch.bmm(grad_contexts.transpose(0, 1), annotations.mT).transpose(0, 1).contiguous()

        # From the last step to the first: dL/ds_{t-1} is the gradient through step t, plus the gradient that
        # the caller gives for the returned state s_{t-1}.
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
            backward_attend(
                alpha=alpha[t],
                values=annotation_terms,
                grad_sum=grad_projected[t],
                grad_alpha=grad_alpha[t],
                keys=keys,
                query=queries[t],
                v_a=v_a,
                grad_energy=grad_energies[t],
                grad_query=grad_state_products[t, :, :A],
                sum_squares=sum_squares,
                sum_activations=sum_activations,
                fast_tanh=backend.fast_tanh,
                fuse=backend.fuse,
            )
            grad_state_products[t, :, A:] = grad_projected[t, :, : 2 * N]
            backend.add_product(grad_before, grad_state_products[t], transposed_W_state)
            grad = grad_before.add_(grad_states[t])

        # every weight's gradient is one product over all steps and sentences: (T * B, ...)
        states_before, flat_grad = states[:-1].view(-1, N), grad_projected.flatten(0, 1)
        grad_W_a = backend.product(states_before.t(), grad_state_products.flatten(0, 1)[:, :A])
        grad_U_gates, grad_U = compute_recurrent_gradients(
            backend, states_before, gates.view(-1, 2 * N), flat_grad
        )
        grad_C_all = backend.product(contexts.flatten(0, 1).t(), flat_grad)
        grad_keys, grad_v_a = backward_keys(
            grad_energies=grad_energies,
            queries=queries,
            keys=keys,
            v_a=v_a,
            sum_squares=sum_squares,
            sum_activations=sum_activations,
            fuse=backend.fuse,
        )

        # dL/dc_i through the gated unit and through the output layer; d c_i / d h_j = alpha_ij
        grad_contexts = backend.product(flat_grad, C_all.t()).view_as(contexts) + grad_contexts
        grad_annotations = torch.bmm(alpha.permute(1, 2, 0), grad_contexts.transpose(0, 1))
        return (
            None, grad_projected, grad, grad_annotations, grad_keys, None, grad_W_a, grad_v_a,
            grad_U_gates, grad_U, grad_C_all,
        )  # fmt: skip


def run_attention_recurrence(
    backend: Backend,
    projected: Tensor,
    start: Tensor,
    keys: Tensor,
    v_a: Tensor,
    padding: Tensor,
    annotation_terms: Tensor,
    W_state: PreparedWeight,
    U: PreparedWeight,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the values of all steps: s_0..s_T, gates, candidates, queries (T, B, A) and weights alpha (T, B, S).

    For states, gates and candidates, see `run_recurrence`; for the other arguments, `AttentionScan.forward`.

    Args:
        annotation_terms: [C_z C_r C] h_j, (B, S, 3N).
        W_state: [W_a U_z U_r], (N, A + 2N), with which one product gives the query and h [U_z | U_r].
    """
    T, B, _ = projected.shape
    N = start.shape[1]
    S, A = keys.shape[1:]
    states = projected.new_empty(T + 1, B, N)
    gates = projected.new_empty(T, B, 2 * N)
    candidates = projected.new_empty(T, B, N)
    queries = projected.new_empty(T, B, A)
    alpha = projected.new_empty(T, B, S)

    states[0] = start
    for t in range(T):
        state_products = backend.product(states[t], W_state)  # (B, A + 2N)
        queries[t] = state_products[:, :A]

        # alpha_i (B, 1, S), and [C_z C_r C] c_i (B, 1, 3N)
        step_alpha, context_terms = attend(
            queries=queries[t].unsqueeze(1),
            keys=keys,
            v_a=v_a,
            padding=padding,
            values=annotation_terms,
            fast_tanh=backend.fast_tanh,
            fuse=backend.fuse,
        )
        alpha[t] = step_alpha.squeeze(1)

        # the gated unit
        write_gru_step(
            backend,
            projected=context_terms.squeeze(1).add_(projected[t]),
            recurrent=state_products[:, A:],
            state=states[t],
            U=U,
            mask=None,
            gates=gates[t],
            candidate=candidates[t],
            next_state=states[t + 1],
        )
    return states, gates, candidates, queries, alpha


def attend_fused(
    queries: Tensor, keys: Tensor, v_a: Tensor, padding: Tensor, values: Tensor, fast_tanh: bool
) -> tuple[Tensor, Tensor]:
    """Compute the same as `attend` for one query per sentence. torch.compile turns this form into two kernels.

    `fast_tanh` is not used: it is False where steps are compiled (`Backend.fast_tanh`).
    """
    assert queries.shape[1] == 1
    energy = (torch.tanh(keys.unsqueeze(1) + queries.unsqueeze(2)) * v_a).sum(dim=3)  # (B, 1, S)
    alpha = energy.masked_fill(padding.unsqueeze(1), -torch.inf).softmax(dim=2)
    return alpha, (alpha.transpose(1, 2) * values).sum(dim=1, keepdim=True)


@fusible(fused=attend_fused, dynamic_dims={"keys": 1, "padding": 1, "values": 1})
def attend(
    queries: Tensor, keys: Tensor, v_a: Tensor, padding: Tensor, values: Tensor, fast_tanh: bool
) -> tuple[Tensor, Tensor]:
    """Return alpha_i, (B, K, S), and sum_j alpha_ij values_j, (B, K, X): Eqs. 5 and 6.

    Args:
        queries: W_a s_{i-1}, (B, K, A). In training, K is 1; in a search, the hypotheses of a sentence share its keys.
        keys: U_a h_j, (B, S, A).
        padding: True where the source is padding, (B, S).
        values: the values to sum, a linear function of the annotations, (B, S, X).
        fast_tanh: see `Backend.fast_tanh`.
    """
    energy = queries.new_empty(*queries.shape[:2], keys.shape[1])  # (B, K, S)
    for sentences, hypotheses, activations in iterate_activations(keys, queries, fast_tanh):
        energy[sentences, hypotheses] = activations @ v_a
    alpha = energy.masked_fill(padding.unsqueeze(1), -torch.inf).softmax(dim=2)
    return alpha, torch.bmm(alpha, values)


def iterate_activations(
    keys: Tensor, queries: Tensor, fast_tanh: bool
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield the activations of the alignment model block by block; see `attend` for the arguments.

    Yields three values for each block: the slice of its b sentences, the slice of its k hypotheses per sentence, and
    the activations tanh(W_a s + U_a h_j), (b, k, S, A). Each block reuses the memory of the block before.
    """
    B, K, A = queries.shape
    S = keys.shape[1]

    # A block has as many whole sentences as the limit allows. If one sentence is too large, a block has some of its
    # hypotheses.
    limit = ACTIVATIONS_PER_BLOCK[keys.device.type]
    if K > 1 and keys.device.type == "cpu":
        limit *= CPU_SEARCH_FACTOR
    hypotheses_limit = max(1, limit // (S * A))
    block_sentences = min(B, max(1, hypotheses_limit // K))
    block_hypotheses = min(hypotheses_limit, K)

    buffer = keys.new_empty(block_sentences, block_hypotheses, S, A)
    for sentence in range(0, B, block_sentences):
        sentences = slice(sentence, sentence + block_sentences)
        for hypothesis in range(0, K, block_hypotheses):
            hypotheses = slice(hypothesis, hypothesis + block_hypotheses)
            block_queries = queries[sentences, hypotheses].unsqueeze(2)  # (b, k, 1, A)
            activations = buffer[: block_queries.shape[0], : block_queries.shape[1]]
            torch.add(keys[sentences].unsqueeze(1), block_queries, out=activations)
            yield sentences, hypotheses, tanh_(activations, fast_tanh)


def backward_attend_fused(
    alpha: Tensor, values: Tensor, grad_sum: Tensor, grad_alpha: Tensor, keys: Tensor, query: Tensor, v_a: Tensor,
    grad_energy: Tensor, grad_query: Tensor, sum_squares: Tensor, sum_activations: Tensor, fast_tanh: bool,
) -> None:  # fmt: skip
    """Compute the same as `backward_attend`, but leave `sum_squares` and `sum_activations` as they are.

    `backward_keys_fused` computes both sums over all steps: a GPU would take longer to read and write them at each step
    than to compute the activations once more.
    """
    # through the weighted sum and the softmax, (B, S); g is dL/de_i
    total_grad_alpha = grad_alpha + (values * grad_sum.unsqueeze(1)).sum(dim=2)
    g = alpha * (total_grad_alpha - (alpha * total_grad_alpha).sum(dim=1, keepdim=True))
    grad_energy.copy_(g)

    # through tanh, (B, S, A)
    activation = torch.tanh(keys + query.unsqueeze(1))
    slope = 1 - activation * activation
    grad_query.copy_((g.unsqueeze(2) * slope).sum(dim=1) * v_a)


@fusible(
    fused=backward_attend_fused,
    dynamic_dims={"alpha": 1, "values": 1, "grad_alpha": 1, "keys": 1, "grad_energy": 1, "sum_squares": 1},
)
def backward_attend(
    alpha: Tensor, values: Tensor, grad_sum: Tensor, grad_alpha: Tensor, keys: Tensor, query: Tensor, v_a: Tensor,
    grad_energy: Tensor, grad_query: Tensor, sum_squares: Tensor, sum_activations: Tensor, fast_tanh: bool,
) -> None:  # fmt: skip
    """Backpropagate through one step of `attend`: fill dL/de_i and dL/dq_i, and add to two sums over all steps.

    With a = tanh(q_i + k_j) and g = dL/de_ij, dL/dq_i is v_a * sum_j g (1 - a^2).

    Args:
        alpha, query: alpha_i (B, S) and q_i (B, A).
        values, keys, v_a: see `attend`.
        grad_sum: the gradient of the weighted sum of values, (B, X).
        grad_alpha: the gradient of alpha_i without the part that comes through this sum, (B, S).
        grad_energy, grad_query: to be filled with dL/de_i (B, S) and dL/dq_i (B, A).
        sum_squares: the sum over the steps of g a^2, (B, S, A).
        sum_activations: the sum over the steps, sentences and positions of g a, (A,).
        fast_tanh: see `Backend.fast_tanh`.
    """
    # through the weighted sum and the softmax, (B, S); g is 0 on padding, where alpha is 0
    total_grad_alpha = torch.baddbmm(grad_alpha.unsqueeze(2), values, grad_sum.unsqueeze(2)).squeeze(2)
    g = alpha * (total_grad_alpha - (alpha * total_grad_alpha).sum(dim=1, keepdim=True))
    grad_energy.copy_(g)

    # through tanh, a block of sentences at a time
    step_squares = torch.empty_like(query)  # sum_j g a^2, (B, A)
    for sentences, _, activations in iterate_activations(keys, query.unsqueeze(1), fast_tanh):
        activation, block_g = activations.squeeze(1), g[sentences]  # (b, S, A), (b, S)
        sum_activations.addmv_(activation.flatten(0, 1).t(), block_g.reshape(-1))
        square = activation.mul_(activation)
        step_squares[sentences] = torch.bmm(block_g.unsqueeze(1), square).squeeze(1)
        sum_squares[sentences].addcmul_(square, block_g.unsqueeze(2))
    grad_query.copy_((g.sum(dim=1, keepdim=True) - step_squares) * v_a)


def backward_keys_fused(
    grad_energies: Tensor, queries: Tensor, keys: Tensor, v_a: Tensor, sum_squares: Tensor, sum_activations: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the gradients of the keys, (B, S, A), and of v_a, (A,), as `backward_keys` does.

    The activations of all steps are computed again, so the last two arguments, sums over steps that `backward_keys`
    needs, are not used.
    """
    activation = torch.tanh(queries.unsqueeze(2) + keys)  # (T, B, S, A), not stored by the compiled kernel
    g = grad_energies.unsqueeze(3)
    slope = 1 - activation * activation
    return v_a * (g * slope).sum(dim=0), (g * activation).sum(dim=0).sum(dim=(0, 1))


@fusible(
    fused=backward_keys_fused,
    dynamic_dims={"grad_energies": (0, 2), "queries": 0, "keys": 1, "sum_squares": 1},
)
def backward_keys(
    grad_energies: Tensor, queries: Tensor, keys: Tensor, v_a: Tensor, sum_squares: Tensor, sum_activations: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the gradients of the keys, (B, S, A), and of v_a, (A,).

    With a = tanh(q_i + k_j) and g = dL/de_ij, they are v_a * sum_i g (1 - a^2) and sum_ij g a.

    Args:
        grad_energies, queries: g of all steps, (T, B, S), and q_i, (T, B, A).
        keys, v_a: see `attend`.
        sum_squares, sum_activations: the sums over all steps that `backward_attend` has computed.
    """
    g_sum = grad_energies.sum(dim=0).unsqueeze(2)  # (B, S, 1)
    return torch.sub(g_sum, sum_squares, out=sum_squares).mul_(v_a), sum_activations
