"""The training cost: -log p of the target words in nats, and its gradient in the same pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nmt.backend.compiled import fusible
from nmt.backend.matmul import Backend

POSITIONS_PER_BLOCK = 600
"""Positions whose logits are in memory at once."""
LOGITS_PER_BLOCK = 1 << 20
"""Logits that a CPU processes at once: few enough to stay in its cache from one pass to the next."""


class SummedNLL(torch.autograd.Function):
    """The function -sum_p mask_p log softmax(features_p W + b)[word_p], which computes its gradient in the same pass.

    The logits (P, V) are by far the largest tensor of an update. So only one block of them exists at a time. The
    softmax of a block becomes its own gradient in place, which is added to the gradients of features and weights before
    the next block.
    """

    @staticmethod
    def forward(
        ctx: Any, backend: Backend, features: Tensor, W: Tensor, b: Tensor, words: Tensor, mask: Tensor | None
    ) -> Tensor:
        """Return the cost, a scalar.

        Args:
            features: the features that W multiplies at each position, (P, F).
            W, b: weights (F, V) and bias (V,) of the output layer.
            words: ids of the target words, (P,).
            mask: 1 where a position counts, else 0, (P,); None if all count.
        """
        grad_features, grad_W, grad_b = torch.empty_like(features), torch.zeros_like(W), torch.zeros_like(b)
        cost = torch.zeros((), dtype=torch.float64, device=features.device)
        prepared_W, transposed_W = backend.prepare_weight(W), backend.prepare_weight(W.t())

        for start in range(0, len(features), POSITIONS_PER_BLOCK):
            block = slice(start, start + POSITIONS_PER_BLOCK)
            block_mask = None if mask is None else mask[block].unsqueeze(1)

            # the logits of the block, which then become their gradient: (P of the block, V)
            logits = backend.product(features[block], prepared_W)
            cost += replace_logits_by_gradient_(
                logits=logits, bias=b, words=words[block].unsqueeze(1), mask=block_mask, fuse=backend.fuse
            )

            # back through features W + b; in 32 bits, `addmm_` adds the product to grad_W without a tensor for it
            grad_features[block] = backend.product(logits, transposed_W)
            if backend.is_bf16:
                grad_W += backend.product(features[block].t(), logits)
            else:
                grad_W.addmm_(features[block].t(), logits)
            grad_b.addmv_(logits.t(), logits.new_ones(len(logits)))

        ctx.save_for_backward(grad_features, grad_W, grad_b)
        return cost.to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients that `forward` stored, scaled; backend, words and mask have none."""
        (scale,) = grads
        grad_features, grad_W, grad_b = ctx.saved_tensors
        return None, grad_features.mul_(scale), grad_W.mul_(scale), grad_b.mul_(scale), None, None


def replace_logits_by_gradient_fused_(
    logits: Tensor, bias: Tensor, words: Tensor, mask: Tensor | None
) -> Tensor:
    """Compute the same as `replace_logits_by_gradient_`, in a form for torch.compile: few passes over the logits."""
    scores = logits + bias
    log_sum = scores.logsumexp(dim=1, keepdim=True)
    cost = log_sum - scores.gather(1, words)
    one_hot = torch.arange(scores.shape[1], device=scores.device) == words
    error = torch.exp(scores - log_sum) - one_hot.to(scores.dtype)
    if mask is not None:
        cost, error = cost * mask, error * mask
    logits.copy_(error)
    return cost.sum(dtype=torch.float64)


@fusible(fused=replace_logits_by_gradient_fused_, dynamic_dims={"logits": 0, "words": 0, "mask": 0})
def replace_logits_by_gradient_(logits: Tensor, bias: Tensor, words: Tensor, mask: Tensor | None) -> Tensor:
    """Replace logits without bias (P, V) by their gradient, softmax - one-hot, and return the cost, a scalar.

    words, mask: (P, 1); see `SummedNLL.forward`.
    """
    cost = torch.zeros((), dtype=torch.float64, device=logits.device)
    rows_per_block = len(logits) if logits.is_cuda else max(1, LOGITS_PER_BLOCK // logits.shape[1])
    buffer = torch.empty_like(logits[:rows_per_block])

    for start in range(0, len(logits), rows_per_block):
        block = slice(start, start + rows_per_block)
        values, block_words = logits[block], words[block]
        log_probs = torch.log_softmax(values.add_(bias), dim=1, out=buffer[: len(values)])
        word_log_probs = log_probs.gather(1, block_words)

        # The gradient is softmax - one-hot, so add -1 at each word: a number, since a GPU would sort the indices first
        # to add a tensor.
        torch.exp(log_probs, out=values)
        values.scatter_(1, block_words, -1.0, reduce="add")
        if mask is not None:
            word_log_probs = word_log_probs * mask[block]
            values.mul_(mask[block])
        cost -= word_log_probs.sum(dtype=torch.float64)
    return cost
