"""The deep output with a layer of maxout units (paper, App. A.2.2; Goodfellow et al. 2013).

    t~_i = U_o s + V_o E y_{i-1} + C_o c_i                (2L,)
    t_i  = [max(t~_{i,2k-1}, t~_{i,2k})]_{k=1..L}         (L,)
    p(y_i) = softmax(W_o t_i)                             (V,)

Models call their output layer `readout`, since the names of its weights in model files begin so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from nmt.backend.matmul import BackendModule
from nmt.model.weights import create_weight
from nmt.settings.model_types import GatedDecoderArchitecture


class OutputLayer(BackendModule, ABC):
    """The layer softmax(W_o x + b_o). A subclass computes the features x from the decoder's values at a position.

    vocabulary_size: V without the `unused_ids` of the settings, which W_o and b_o have, too.
    """

    vocabulary_size: int
    W_o: nn.Parameter
    b_o: nn.Parameter

    @abstractmethod
    def compute_features(self, *inputs: Tensor) -> Tensor:
        """Return the features that W_o multiplies, (P, F)."""

    def compute_log_probs(self, features: Tensor) -> Tensor:
        """Return log p of each word of the vocabulary, (P, V), from the features, (P, F).

        The `unused_ids` take part in the softmax, but are not words of the vocabulary.
        """
        logits = self.backend.affine(features, self.prepare_once("W_o", lambda: self.W_o), self.b_o)
        return logits.log_softmax(dim=1)[:, : self.vocabulary_size]


class MaxoutOutputLayer(OutputLayer):
    """The output layer of the gated decoders, which reads state, previous word and context.

    `direct`: W_o (L, V), as in the paper. `factored`: W_m (L, M) without bias, then W_o (M, V), as in the authors'
    code. Both have the biases of the authors' code: one for the projection of the state, and one for the softmax.
    """

    def __init__(
        self, architecture: GatedDecoderArchitecture, context_size: int, vocabulary_size: int
    ) -> None:
        """Create the weights.

        context_size: C. vocabulary_size: V without the `unused_ids` of the settings, which are added.
        """
        super().__init__()
        self.vocabulary_size = vocabulary_size
        M, L = architecture.embedding_size, architecture.maxout_units
        self.U_o = create_weight(architecture.hidden_units, 2 * L)
        self.V_o = create_weight(M, 2 * L)
        self.C_o = create_weight(context_size, 2 * L)
        self.b_t = create_weight(2 * L)
        self.is_factored = architecture.output_layer == "factored"
        if self.is_factored:
            self.W_m = create_weight(L, M)
        output_size = vocabulary_size + architecture.unused_ids
        self.W_o = create_weight(M if self.is_factored else L, output_size)
        self.b_o = create_weight(output_size)

    def compute_features(self, *inputs: Tensor) -> Tensor:
        """Return the features, (P, F), from s (P, N), E y_{i-1} (P, M) and c_i (P, C)."""
        weights = torch.cat([self.U_o, self.V_o, self.C_o])  # (N + M + C, 2L)
        return self.apply_maxout(self.backend.affine(torch.cat(inputs, dim=-1), weights, self.b_t))

    def apply_maxout(self, pre_activations: Tensor) -> Tensor:
        """Return the features, (P, F), from t~_i (P, 2L)."""
        units = maxout(pre_activations)  # (P, L)
        return self.backend.product(units, self.W_m) if self.is_factored else units


def maxout(values: Tensor) -> Tensor:
    """Return the larger number of each adjacent pair: (..., 2L) -> (..., L)."""
    return values.view(*values.shape[:-1], -1, 2).amax(dim=-1)
