"""The deep output with a single maxout layer (paper, App. A.2.2; Goodfellow et al. 2013), and the training cost.

Shapes: P positions (any leading shape), N hidden units, M embedding size, C context size, L maxout units, D features,
V vocabulary size, W candidates for B sentences, R hypotheses.

    t~_i = U_o s + V_o E y_{i-1} + C_o c_i       2L
    t_i  = [max(t~_{i,2k-1}, t~_{i,2k})]_{k=1..L}
    p(y_i) = softmax(W_o t_i)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from nmt.backend.compiled import fusible
from nmt.backend.products import Backend, Factor, Module
from nmt.model.gru import weight
from nmt.settings.model_types import GatedDecoderArchitecture


class OutputLayer(Module, ABC):
    """The layer softmax(W_o x + b_o). A subclass computes the features x from the decoder's values at a position."""

    W_o: nn.Parameter
    b_o: nn.Parameter

    @abstractmethod
    def features(self, *inputs: Tensor) -> Tensor:
        """Return the features, which W_o multiplies, (P, D)."""

    def forward(self, *inputs: Tensor) -> Tensor:
        """Return logits (P, V)."""
        return self.backend.affine(self.features(*inputs), self.word_factor(), self.b_o)

    def word_factor(self) -> Factor:
        """The factor for products with W_o, (D, V)."""
        return self.prepared_weight("words", lambda: self.W_o)


@dataclass(frozen=True)
class Candidates:
    """The words that a search may write: ids in ascending order (W,), and True where a sentence omits one (B, W)."""

    ids: Tensor
    mask: Tensor

    def select(self, rows: Tensor) -> Candidates:
        """Return the candidates of the sentences at `rows`."""
        return Candidates(self.ids, self.mask[rows])


class WordProbabilities:
    """Computes log p of the next word in a search, for all words or for the candidates of each sentence."""

    def __init__(self, readout: OutputLayer, words: int, candidates: Candidates | None) -> None:
        """Take the output layer and `words`, the size of the vocabulary without unused ids."""
        self.backend, self.words, self.candidates = readout.backend, words, candidates
        self.weights, self.bias = readout.word_factor(), cast(Tensor, readout.b_o)
        if candidates is not None:
            self.weights = self.backend.factor(readout.W_o.index_select(1, candidates.ids))
            self.bias = readout.b_o[candidates.ids]

    def of(self, features: Tensor, hypotheses: int, alive: Tensor | None) -> Tensor:
        """Return log p, (R, V) or (R, W), of features (R, D) of the hypotheses at `alive`, or of all.

        `hypotheses` is their number per sentence, K.
        """
        logits = self.backend.affine(features, self.weights, self.bias)
        if self.candidates is not None:
            rows = torch.arange(len(features), device=features.device) if alive is None else alive
            logits.masked_fill_(self.candidates.mask[rows // hypotheses], -torch.inf)
        return logits.log_softmax(dim=1)[:, : self.words]

    def keep(self, rows: Tensor) -> None:
        """Keep only the sentences at `rows`."""
        if self.candidates is not None:
            self.candidates = self.candidates.select(rows)


class MaxoutReadout(OutputLayer):
    """Computes the logits of the next word from state, previous word and context.

    `direct` is the paper's W_o, (L, V). `factored` is that of the authors' code: L -> M without bias, then M -> V.
    Biases are those of the authors' code: one for the projection of the state, and one for the softmax.
    """

    def __init__(self, architecture: GatedDecoderArchitecture, context: int, words: int) -> None:
        """Take the sizes: `context` of c_i, `words` of the target vocabulary without its `unused_ids`."""
        super().__init__()
        embedding, maxout = architecture.embedding_size, architecture.maxout_units
        sizes = (architecture.hidden_units, embedding, context)
        self.U_o, self.V_o, self.C_o = (weight(inputs, 2 * maxout) for inputs in sizes)
        self.b_t = nn.Parameter(torch.empty(2 * maxout))
        self.factored = architecture.output_layer == "factored"
        if self.factored:
            self.W_m = weight(maxout, embedding)
        self.W_o = weight(embedding if self.factored else maxout, words + architecture.unused_ids)
        self.b_o = nn.Parameter(torch.empty(words + architecture.unused_ids))

    def features(self, *inputs: Tensor) -> Tensor:
        """Return the features, (P, L) or (P, M), from s (P, N), E y_{i-1} (P, M) and c_i (P, C)."""
        weights = torch.cat([self.U_o, self.V_o, self.C_o])
        return self.compressed(maxout(self.backend.affine(torch.cat(inputs, dim=-1), weights, self.b_t)))

    def compressed(self, hidden: Tensor) -> Tensor:
        """Return the features, (P, L) or (P, M), from t_i (P, L)."""
        return self.backend.product(hidden, self.W_m) if self.factored else hidden


def maxout(values: Tensor) -> Tensor:
    """Return the larger number of each adjacent pair: (..., 2L) -> (..., L)."""
    return values.view(*values.shape[:-1], -1, 2).amax(dim=-1)


# --- the training cost ------------------------------------------------------------------------------------------------

CHUNK = 600
"""Positions whose logits are in memory at once."""
IN_CACHE = 1 << 20
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
        ahead, back = backend.factor(W), backend.factor(W.t())
        for start in range(0, len(features), CHUNK):
            rows = slice(start, start + CHUNK)
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
    size = len(logits) if logits.is_cuda else max(1, IN_CACHE // logits.shape[1])
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
