"""The deep output with a single maxout layer (paper, App. A.2.2; Goodfellow et al. 2013).

Shapes: P positions (any leading shape), N hidden units, M embedding size, C context size, L maxout units, D features,
V vocabulary size, W candidates for B sentences, R hypotheses.

    t~_i = U_o s + V_o E y_{i-1} + C_o c_i       2L
    t_i  = [max(t~_{i,2k-1}, t~_{i,2k})]_{k=1..L}
    p(y_i) = softmax(W_o t_i)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from nmt.backend.products import Factor, Module
from nmt.model.weights import create_weight
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
            self.weights = self.backend.prepare_weight(readout.W_o.index_select(1, candidates.ids))
            self.bias = readout.b_o[candidates.ids]

    def of(self, features: Tensor, hypotheses: int, active_rows: Tensor | None) -> Tensor:
        """Return log p, (R, V) or (R, W), of features (R, D) of the hypotheses at `active_rows`, or of all.

        `hypotheses` is their number per sentence, K.
        """
        logits = self.backend.affine(features, self.weights, self.bias)
        if self.candidates is not None:
            rows = torch.arange(len(features), device=features.device) if active_rows is None else active_rows
            logits.masked_fill_(self.candidates.mask[rows // hypotheses], -torch.inf)
        return logits.log_softmax(dim=1)[:, : self.words]

    def select_sentences(self, rows: Tensor) -> None:
        """Keep only the sentences at `rows`."""
        if self.candidates is not None:
            self.candidates = self.candidates.select(rows)


class MaxoutOutputLayer(OutputLayer):
    """Computes the logits of the next word from state, previous word and context.

    `direct` is the paper's W_o, (L, V). `factored` is that of the authors' code: L -> M without bias, then M -> V.
    Biases are those of the authors' code: one for the projection of the state, and one for the softmax.
    """

    def __init__(self, architecture: GatedDecoderArchitecture, context: int, words: int) -> None:
        """Take the sizes: `context` of c_i, `words` of the target vocabulary without its `unused_ids`."""
        super().__init__()
        embedding, maxout = architecture.embedding_size, architecture.maxout_units
        sizes = (architecture.hidden_units, embedding, context)
        self.U_o, self.V_o, self.C_o = (create_weight(inputs, 2 * maxout) for inputs in sizes)
        self.b_t = nn.Parameter(torch.empty(2 * maxout))
        self.factored = architecture.output_layer == "factored"
        if self.factored:
            self.W_m = create_weight(maxout, embedding)
        self.W_o = create_weight(embedding if self.factored else maxout, words + architecture.unused_ids)
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
