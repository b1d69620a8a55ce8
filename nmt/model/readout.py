"""The deep output with a single maxout layer (paper, App. A.2.2; Goodfellow et al. 2013).

Shapes: P positions (any leading shape), N hidden units, M embedding size, C context size, L maxout units,
V vocabulary size.

    t~_i = U_o s + V_o E y_{i-1} + C_o c_i       2L
    t_i  = [max(t~_{i,2k-1}, t~_{i,2k})]_{k=1..L}
    p(y_i) = softmax(W_o t_i)
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from nmt.model.gru import weight
from nmt.model.precision import affine, product


class Readout(nn.Module):
    """From state, previous word and context to the logits of the next word.

    `direct` is the paper's W_o, (L, V); `factored` the authors' code's: L -> M without bias, then M -> V.
    Biases, as in the authors' code: one on the state's projection, one on the softmax.
    """

    def __init__(
        self,
        hidden: int,
        embedding: int,
        context: int,
        maxout: int,
        vocabulary: int,
        output_layer: Literal["direct", "factored"],
    ) -> None:
        super().__init__()
        self.U_o, self.V_o, self.C_o = (weight(inputs, 2 * maxout) for inputs in (hidden, embedding, context))
        self.b_t = nn.Parameter(torch.empty(2 * maxout))
        self.factored = output_layer == "factored"
        if self.factored:
            self.W_m = weight(maxout, embedding)
        self.W_o = weight(embedding if self.factored else maxout, vocabulary)
        self.b_o = nn.Parameter(torch.empty(vocabulary))

    def features(self, state: Tensor, previous: Tensor, context: Tensor) -> Tensor:
        """What W_o multiplies, (P, L) or (P, M), from s (P, N), E y_{i-1} (P, M) and c_i (P, C)."""
        inputs = torch.cat([state, previous, context], dim=-1)
        weights = torch.cat([self.U_o, self.V_o, self.C_o])
        return self.compressed(maxout(affine(inputs, weights, self.b_t)))

    def compressed(self, hidden: Tensor) -> Tensor:
        """What W_o multiplies, (P, L) or (P, M), from t_i (P, L)."""
        return product(hidden, self.W_m) if self.factored else hidden

    def forward(self, state: Tensor, previous: Tensor, context: Tensor) -> Tensor:
        """Logits (P, V) from s (P, N), E y_{i-1} (P, M) and c_i (P, C)."""
        return affine(self.features(state, previous, context), self.W_o, self.b_o)


def maxout(values: Tensor) -> Tensor:
    """The larger of each adjacent pair: (..., 2L) -> (..., L)."""
    return values.view(*values.shape[:-1], -1, 2).amax(dim=-1)
