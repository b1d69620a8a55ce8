"""The cost: negative log-probability of the target's words under the softmax, with its gradient in the same pass.

Shapes: P positions, D features of the readout, V vocabulary size.

The logits (P, V) are by far the largest tensor of an update. Here they exist only a chunk at a time: each chunk's
softmax becomes its own gradient in place, and goes into the gradients of features and weights before the next.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK = 512
"""Positions whose logits are in memory at once."""


class SummedNLL(torch.autograd.Function):
    """-sum_p log softmax(features_p W + b)[word_p] in nats."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, W: Tensor, b: Tensor, words: Tensor) -> Tensor:
        """A scalar from features (P, D), weights (D, V) and (V,), and words (P,)."""
        grads = torch.empty_like(features), torch.zeros_like(W), torch.zeros_like(b)
        total = torch.zeros((), dtype=torch.float64, device=features.device)
        for start in range(0, len(features), CHUNK):
            rows = slice(start, start + CHUNK)
            total += chunk_nll(features[rows], W, b, words[rows], grads[0][rows], grads[1], grads[2])
        ctx.save_for_backward(*grads)
        return total.to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients that `forward` left, scaled; none for the words."""
        (scale,) = grads
        features, W, b = ctx.saved_tensors
        return features.mul_(scale), W.mul_(scale), b.mul_(scale), None


def chunk_nll(
    features: Tensor,
    W: Tensor,
    b: Tensor,
    words: Tensor,
    grad_features: Tensor,
    grad_W: Tensor,
    grad_b: Tensor,
) -> Tensor:
    """NLL of one chunk; fills `grad_features` and adds to `grad_W` and `grad_b`."""
    logits = torch.addmm(b, features, W)
    target = words.unsqueeze(1)
    chosen = logits.gather(1, target)
    normalizer = logits.logsumexp(dim=1, keepdim=True)
    softmax = logits.sub_(normalizer).exp_()
    error = softmax.scatter_add_(1, target, softmax.new_full((1, 1), -1.0).expand_as(target))
    torch.mm(error, W.t(), out=grad_features)
    grad_W.addmm_(features.t(), error)
    grad_b.add_(error.sum(dim=0))
    return (normalizer - chosen).sum(dtype=torch.float64)


def summed_nll(features: Tensor, W: Tensor, b: Tensor, words: Tensor) -> Tensor:
    """-sum_p log p(word_p) in nats, a scalar."""
    total: Tensor = SummedNLL.apply(features, W, b, words)  # type: ignore[no-untyped-call]
    return total
