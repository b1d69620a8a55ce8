"""The paper's decoder, a gated unit with a context and a deep output, and the model around it (App. A.1.1 and A.2.2).

Shapes: B sentences, S source length, T target length, K hypotheses per sentence, R of the B * K that are active,
N hidden units, M embedding size, C context size (N for RNNencdec and grConv, 2N for RNNsearch), L maxout units,
V vocabulary size.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nmt.backend.products import Module
from nmt.model.encoder_decoder import (
    DecoderState,
    Encoded,
    EncoderDecoder,
    Inputs,
    Prediction,
)
from nmt.model.gru import GRUCell, gated_step, scan
from nmt.model.output_layer import Candidates, MaxoutOutputLayer, WordProbabilities, maxout
from nmt.model.weights import Initializer, create_weight, normal, orthogonal, zero
from nmt.settings.model_types import GatedDecoderArchitecture

RECURRENT = re.compile(r"\.(U|U_z|U_r)$")
ZERO = re.compile(r"\.(v_a|b|b_\w+)$")


@dataclass(frozen=True)
class Annotations(Encoded):
    """Encoded source sentences for a gated decoder.

    annotations: h_j, (B, S, C); (B, 1, C) if there is only one vector per sentence.
    padding: True where `annotations` is padding, (B, S).
    summary: the vector from which s_0 is computed, (B, N).
    keys: U_a h_j, (B, S, A), or None for a model without attention.
    """

    annotations: Tensor
    padding: Tensor
    summary: Tensor
    keys: Tensor | None = None

    @classmethod
    def single(cls, vector: Tensor) -> Annotations:
        """Return annotations with one vector (B, C) per sentence, which is both context and summary."""
        return cls(vector.unsqueeze(1), vector.new_zeros(len(vector), 1, dtype=torch.bool), vector)


class GatedDecoder(Module, ABC):
    """A decoder with a gated unit that reads a context, and s_0 = tanh(W_s summary + b_s).

    A subclass defines the context.
    """

    def __init__(self, architecture: GatedDecoderArchitecture, context: int) -> None:
        """Take the sizes: `context` is that of c_i."""
        super().__init__()
        hidden = architecture.hidden_units
        self.W_s = create_weight(hidden, hidden)
        self.b_s = nn.Parameter(torch.empty(hidden))
        self.unit = GRUCell(architecture.embedding_size, hidden, context)

    def prepare(self, encoded: Annotations) -> Annotations:
        """Add values that are computed once per sentence."""
        return encoded

    def start(self, encoded: Annotations) -> Tensor:
        """Return s_0, (B, N)."""
        return torch.tanh(self.backend.affine(encoded.summary, self.W_s, self.b_s))

    @abstractmethod
    def scan(
        self, encoded: Annotations, embedded: Tensor, start: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return states (T+1, B, N) from `start` on, contexts (T, B, C) and weights (T, B, S) for E y (T, B, M)."""

    @abstractmethod
    def context_share(
        self, state: Tensor, encoded: Annotations, shares: Tensor
    ) -> tuple[Tensor | None, Tensor]:
        """Return the weights alpha_i and a linear function of c_i, for states (B, K, N).

        The function's values on h_j are `shares`, (B, S, X); on c_i it is (B, K, X). The weights are (B, K, S), or None
        without attention.
        """


class FixedContextDecoder(GatedDecoder):
    """The decoder of RNNencdec. The same vector is c_i at every step, in the candidate, both gates and the readout.

    The paper does not define s_0. It is a layer on the same vector, as in the authors' code.
    """

    def __init__(self, architecture: GatedDecoderArchitecture) -> None:
        super().__init__(architecture, architecture.hidden_units)

    def scan(self, encoded: Annotations, embedded: Tensor, start: Tensor) -> tuple[Tensor, Tensor, None]:
        """See `GatedDecoder.scan`; there are no weights."""
        context = encoded.annotations[:, 0]
        projected = self.unit.project(embedded) + self.backend.product(context, self.unit.context_weights())
        states = scan([self.unit], [projected], start.unsqueeze(0)).squeeze(1)
        return states, context.expand(len(embedded), -1, -1), None

    def context_share(self, state: Tensor, encoded: Annotations, shares: Tensor) -> tuple[None, Tensor]:
        """See `GatedDecoder.context_share`; it is the same for all hypotheses of a sentence."""
        return None, shares.expand(-1, state.shape[1], -1)


class GatedEncoderDecoder(EncoderDecoder):
    """Any encoder with a gated decoder and its maxout output.

    The order of a step is a setting (`step_order`), since the paper contradicts itself:

    - groundhog (the authors' code): p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_i, c_i).
    - appendix (A.2.2): p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_{i-1}, c_i).
    - section3 (Sec. 3.1): s_i = f(s_{i-1}, y_{i-1}, c_i); then p(y_i) from s_i, y_{i-1}, c_i.

    In all of them, c_i is computed from s_{i-1}, and the word before the first is a zero vector.
    """

    architecture: GatedDecoderArchitecture
    encoder: nn.Module
    decoder: GatedDecoder
    readout: MaxoutOutputLayer

    def __init__(
        self, architecture: GatedDecoderArchitecture, source_vocabulary: int, target_vocabulary: int
    ) -> None:
        super().__init__(architecture, source_vocabulary, target_vocabulary, embedding_bias=True)

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of App. B.1.

        Recurrent U, U_z, U_r are random orthogonal. v_a and all biases are 0. All other weights are drawn from
        N(0, 0.01^2), with the deviation as a setting. ModelTypes with other kinds of weights override this method.
        """
        if RECURRENT.search(name):
            return orthogonal()
        return zero if ZERO.search(name) else normal(self.architecture.init_std)

    def encode(self, source: Tensor, lengths: Tensor) -> Annotations:
        """See `EncoderDecoder.encode`."""
        return self.decoder.prepare(self.encoder(self.source_embedding(source), lengths))

    def sentence_vectors(self, encoded: Annotations) -> Tensor | None:
        """See `EncoderDecoder.sentence_vectors`; the vector is the fixed context."""
        return encoded.summary if isinstance(self.decoder, FixedContextDecoder) else None

    def unroll(
        self, encoded: Annotations, target: Tensor, steps: int
    ) -> Iterator[tuple[Inputs, Tensor | None]]:
        """See `EncoderDecoder.unroll`; yields states (t, B, N), previous words (t, B, M) and contexts (t, B, C)."""
        embedded = self.target_embedding(target)
        previous = torch.cat([embedded.new_zeros(embedded[:1].shape), embedded[:-1]])
        order = self.architecture.step_order
        fed = embedded if order == "groundhog" else previous
        start = self.decoder.start(encoded)
        for first in range(0, len(target), steps):
            some = slice(first, first + steps)
            states, contexts, weights = self.decoder.scan(encoded, fed[some], start)
            read = states[1:] if order == "section3" else states[:-1]
            yield (read, previous[some], contexts), weights
            start = states[-1]

    def start_search(self, encoded: Annotations, candidates: Candidates | None = None) -> DecoderState:
        """See `EncoderDecoder.start_search`."""
        return GatedDecoderState(self, encoded, candidates)


class GatedDecoderState:
    """The `DecoderState` of a gated decoder, with one state per hypothesis.

    Values that do not change from step to step are computed once per search: concatenated weights, and the terms of
    gates, candidate and readout that depend on the context. For c_i = sum_j alpha_ij h_j these terms are sums, too:
    [C_z C_r C C_o] c_i = sum_j alpha_ij ([C_z C_r C C_o] h_j). So the products are computed once per source word
    instead of once per hypothesis and step.
    """

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

    def predict(self, active_rows: Tensor | None = None) -> Prediction:
        """See `DecoderState.predict`."""
        attention, share = self.model.decoder.context_share(self.state, self.encoded, self.shares)
        before = self.state
        self.share = share[..., : self.recurrent]
        if self.order != "groundhog":
            self.state = self._updated(before, self.previous, self.share)
        read = self.state if self.order == "section3" else before
        parts = [part.flatten(0, 1) for part in (read, self.previous, share[..., self.recurrent :])]
        if active_rows is not None:
            parts = [part[active_rows] for part in parts]
        log_probs = self.words.of(self._features(*parts), self.state.shape[1], active_rows)
        return Prediction(log_probs, attention)

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """See `DecoderState.reorder_and_append`."""
        rows = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        self.previous, self.state = self.model.target_embedding(words), self.state[rows, parents]
        if self.order == "groundhog":
            self.state = self._updated(self.state, self.previous, self.share[rows, parents])

    def select_sentences(self, rows: Tensor) -> None:
        """See `DecoderState.select_sentences`."""
        self.encoded, self.shares = self.encoded.select(rows), self.shares[rows]
        self.state, self.previous = self.state[rows], self.previous[rows]
        self.words.select_sentences(rows)

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
