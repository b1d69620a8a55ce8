"""The training cost: -log p of the target words, and its gradient in the same pass.

Shapes: P positions, D features, V vocabulary size.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nmt.backend.compiled import fusible
from nmt.backend.products import Backend

POSITIONS_PER_BLOCK = 600
"""Positions whose logits are in memory at once."""
LOGITS_PER_BLOCK = 1 << 20
"""Logits that a CPU processes at once, few enough to stay in its cache from one pass to the next."""


class SummedNLL(torch.autograd.Function):
    """The function -sum_p mask_p log softmax(features_p W + b)[word_p] in nats, with its gradient in the same pass.

    The logits (P, V) are by far the largest tensor of an update. Here only one chunk of them exists at a time. The
    softmax of a chunk becomes its own gradient in place, and is added to the gradients of features and weights before
    the next.
    """

    @staticmethod
    def forward(
        ctx: Any, backend: Backend, features: Tensor, W: Tensor, b: Tensor, words: Tensor, mask: Tensor | None
    ) -> Tensor:
        """Compute the scalar cost from features (P, D), weights (D, V) and (V,), words (P,) and a 0/1 mask (P,)."""
        grads = torch.empty_like(features), torch.empty_like(W), torch.zeros_like(b)
        total = torch.zeros((), dtype=torch.float64, device=features.device)
        ahead, back = backend.prepare_weight(W), backend.prepare_weight(W.t())
        for start in range(0, len(features), POSITIONS_PER_BLOCK):
            rows = slice(start, start + POSITIONS_PER_BLOCK)
            row_mask = None if mask is None else mask[rows].unsqueeze(1)
            logits = backend.product(features[rows], ahead)
            total += logits_to_gradient_(logits, b, words[rows].unsqueeze(1), row_mask, fuse=backend.fuse)
            grads[0][rows] = backend.product(logits, back)
            put_product(backend, grads[1], features[rows].t(), logits, add=start > 0)
            grads[2].addmv_(logits.t(), logits.new_ones(len(logits)))
        ctx.save_for_backward(*grads)
        return total.to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients that `forward` stored, scaled; backend, words and mask have none."""
        (scale,) = grads
        features, W, b = ctx.saved_tensors
        return None, features.mul_(scale), W.mul_(scale), b.mul_(scale), None, None


def logits_to_gradient_fused_(logits: Tensor, b: Tensor, words: Tensor, mask: Tensor | None) -> Tensor:
    """Do what `logits_to_gradient_` does, with as few passes over the logits as a kernel needs."""
    values = logits + b
    total = values.logsumexp(dim=1, keepdim=True)
    cost = total - values.gather(1, words)
    chosen = torch.arange(values.shape[1], device=values.device) == words
    error = torch.exp(values - total) - chosen.to(values.dtype)
    if mask is not None:
        cost, error = cost * mask, error * mask
    logits.copy_(error)
    return cost.sum(dtype=torch.float64)


@fusible(fused=logits_to_gradient_fused_, logits=0, words=0, mask=0)
def logits_to_gradient_(logits: Tensor, b: Tensor, words: Tensor, mask: Tensor | None) -> Tensor:
    """Turn logits without bias (P, V) into their gradient, softmax - one-hot, and return the cost.

    `words` and `mask` are (P, 1).
    """
    total = torch.zeros((), dtype=torch.float64, device=logits.device)
    size = len(logits) if logits.is_cuda else max(1, LOGITS_PER_BLOCK // logits.shape[1])
    buffer = torch.empty_like(logits[:size])
    for start in range(0, len(logits), size):
        part, word = logits[start : start + size], words[start : start + size]
        log_probabilities = torch.log_softmax(part.add_(b), dim=1, out=buffer[: len(part)])
        chosen = log_probabilities.gather(1, word)
        torch.exp(log_probabilities, out=part)
        # a number, not a tensor, since a GPU would sort a tensor to add it in a fixed order
        part.scatter_(1, word, -1.0, reduce="add")
        if mask is not None:
            chosen = chosen * mask[start : start + size]
            part.mul_(mask[start : start + size])
        total -= chosen.sum(dtype=torch.float64)
    return total


def put_product(backend: Backend, sums: Tensor, left: Tensor, right: Tensor, add: bool) -> None:
    """Set `sums` to left @ right, added to its old values with `add`; without a copy if the precision allows it."""
    left, right = backend.rounded(left), backend.rounded(right)
    if left.dtype == sums.dtype:
        sums.addmm_(left, right, beta=1 if add else 0)
    elif add:
        sums += backend.product(left, right)
    else:
        sums.copy_(backend.product(left, right))


def summed_nll(
    backend: Backend, features: Tensor, W: Tensor, b: Tensor, words: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Return -sum_p log p(word_p) in nats over the positions with mask 1, a scalar."""
    total: Tensor = SummedNLL.apply(backend, features, W, b, words, mask)  # type: ignore[no-untyped-call]
    return total
