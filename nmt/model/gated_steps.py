"""The steps of a gated decoder in a search: each adds one word to every hypothesis of every sentence of a batch.

Shapes: B sentences, K hypotheses per sentence, R of the B * K that are still alive, S source length, N hidden units,
M embedding size, C context size, L maxout units, V vocabulary size.

Values that do not change from step to step are computed once per search: concatenated weights, and the terms of gates,
candidate and readout that depend on the context. For c_i = sum_j alpha_ij h_j these terms are sums, too:
[C_z C_r C C_o] c_i = sum_j alpha_ij ([C_z C_r C C_o] h_j). So the products are computed once per source word instead of
once per hypothesis and step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nmt.model.gru import gated_step
from nmt.model.readout import Candidates, WordProbabilities, maxout

if TYPE_CHECKING:
    from nmt.model.gated_decoder import Annotations, GatedEncoderDecoder


class GatedSteps:
    """The `Steps` of a gated decoder, with one state per hypothesis."""

    def __init__(
        self, model: GatedEncoderDecoder, encoded: Annotations, candidates: Candidates | None = None
    ) -> None:
        unit, readout = model.decoder.unit, model.readout
        self.model, self.encoded, self.backend = model, encoded, model.backend.unfused()
        self.order = model.architecture.step_order
        self.from_word, self.bias = unit.input_factor(), unit.input_bias()
        self.to_gates = unit.prepared_weight("gates", unit.gate_weights)
        self.to_candidate = unit.prepared_weight("candidate", lambda: unit.U)
        self.to_readout = readout.prepared_weight("search", lambda: torch.cat([readout.U_o, readout.V_o]))
        self.words = WordProbabilities(readout, model.target_vocabulary, candidates)
        self.recurrent = 3 * unit.hidden
        to_shares = model.prepared_weight(
            "shares", lambda: torch.cat([unit.context_weights(), readout.C_o], dim=1)
        )
        self.shares = self.backend.product(encoded.annotations, to_shares)
        self.state = model.decoder.start(encoded).unsqueeze(1)
        self.previous = self.state.new_zeros(*self.state.shape[:2], model.architecture.embedding_size)

    def predict(self, alive: Tensor | None = None) -> Tensor:
        """See `Steps.predict`."""
        share = self.model.decoder.context_share(self.state, self.encoded, self.shares)
        before = self.state
        self.share = share[..., : self.recurrent]
        if self.order != "groundhog":
            self.state = self._updated(before, self.previous, self.share)
        read = self.state if self.order == "section3" else before
        parts = [part.flatten(0, 1) for part in (read, self.previous, share[..., self.recurrent :])]
        if alive is not None:
            parts = [part[alive] for part in parts]
        return self.words.of(self._features(*parts), self.state.shape[1], alive)

    def extend(self, parents: Tensor, words: Tensor) -> None:
        """See `Steps.extend`."""
        rows = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        self.previous, self.state = self.model.target_embedding(words), self.state[rows, parents]
        if self.order == "groundhog":
            self.state = self._updated(self.state, self.previous, self.share[rows, parents])

    def keep(self, rows: Tensor) -> None:
        """See `Steps.keep`."""
        self.encoded, self.shares = self.encoded.select(rows), self.shares[rows]
        self.state, self.previous = self.state[rows], self.previous[rows]
        self.words.keep(rows)

    def _updated(self, state: Tensor, embedded: Tensor, share: Tensor) -> Tensor:
        """Return s_i = f(s_{i-1}, y, c_i), (B, K, N)."""
        flat = state.flatten(0, 1)
        given = self.backend.affine(embedded.flatten(0, 1), self.from_word, self.bias).add_(
            share.flatten(0, 1)
        )
        recurrent, after = self.backend.product(flat, self.to_gates), torch.empty_like(flat)
        out = torch.empty_like(recurrent), torch.empty_like(flat), after
        gated_step(self.backend, given, recurrent, flat, self.to_candidate, None, out)
        return after.view_as(state)

    def _features(self, state: Tensor, previous: Tensor, share: Tensor) -> Tensor:
        """Return the readout's features (R, D) of s (R, N), E y (R, M) and C_o c (R, 2L)."""
        readout = self.model.readout
        inputs = torch.cat([state, previous], dim=1)
        return readout.compressed(
            maxout(self.backend.affine(inputs, self.to_readout, readout.b_t).add_(share))
        )
