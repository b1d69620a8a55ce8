"""The paper's decoder, a gated unit with a context and a deep output, and the model around it (App. A.1.1 and A.2.2).

The letters of dimensions are those of `nmt.model`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nmt.backend.matmul import BackendModule
from nmt.model.encoder_decoder import DecoderState, DecoderValues, Encoded, EncoderDecoder, Prediction
from nmt.model.gru import GRUCell, scan_gru, write_gru_step
from nmt.model.output_layer import MaxoutOutputLayer
from nmt.model.weights import Initializer, create_weight, normal, orthogonal, zero
from nmt.settings.model_types import GatedDecoderArchitecture

RECURRENT_NAMES = re.compile(r"\.(U|U_z|U_r)$")
ZERO_NAMES = re.compile(r"\.(v_a|b|b_\w+)$")


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
    def from_vector(cls, vector: Tensor) -> Annotations:
        """Return the annotations of sentences that have one vector each, (B, C), which is both context and summary."""
        return cls(vector.unsqueeze(1), vector.new_zeros(len(vector), 1, dtype=torch.bool), vector)


class GatedDecoder(BackendModule, ABC):
    """A decoder with a gated unit that reads a context, and s_0 = tanh(W_s summary + b_s).

    A subclass defines the context, which has the size of `encoder_directions` states.
    """

    encoder_directions: int

    def __init__(self, architecture: GatedDecoderArchitecture) -> None:
        super().__init__()
        N = architecture.hidden_units
        self.context_size = self.encoder_directions * N
        self.W_s, self.b_s = create_weight(N, N), create_weight(N)
        self.unit = GRUCell(architecture.embedding_size, N, self.context_size)

    def add_keys(self, encoded: Annotations) -> Annotations:
        """Return `encoded` with the keys of attention. This decoder has none."""
        return encoded

    def start(self, encoded: Annotations) -> Tensor:
        """Return s_0, (B, N)."""
        return torch.tanh(self.backend.affine(encoded.summary, self.W_s, self.b_s))

    @abstractmethod
    def scan_steps(
        self, encoded: Annotations, embedded: Tensor, start: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Run the recurrence over words E y (T, B, M) from the state `start` (B, N).

        Returns:
            States from `start` on (T+1, B, N), contexts (T, B, C), and the attention (T, B, S) or None.
        """

    @abstractmethod
    def compute_context_terms(
        self, state: Tensor, encoded: Annotations, annotation_terms: Tensor
    ) -> tuple[Tensor | None, Tensor]:
        """Return the attention alpha_i (B, K, S), or None, and the product of c_i with some weights, (B, K, X).

        `state` is s_{i-1}, (B, K, N). `annotation_terms` are the products of each h_j with these weights, (B, S, X).
        """


class FixedContextDecoder(GatedDecoder):
    """The decoder of RNNencdec: every c_i is the same vector. Candidate, both gates and the output layer read it.

    The paper does not define s_0. Here, it is computed from the same vector, as in the authors' code.
    """

    encoder_directions = 1

    def scan_steps(
        self, encoded: Annotations, embedded: Tensor, start: Tensor
    ) -> tuple[Tensor, Tensor, None]:
        """See `GatedDecoder.scan_steps`; there is no attention."""
        context = encoded.annotations[:, 0]  # (B, C)
        context_terms = self.backend.product(context, self.unit.context_weights())  # (B, 3N)
        projected = self.unit.project(embedded) + context_terms  # (T, B, 3N)
        states = scan_gru([self.unit], [projected], start.unsqueeze(0)).squeeze(1)
        return states, context.expand(len(embedded), -1, -1), None

    def compute_context_terms(
        self, state: Tensor, encoded: Annotations, annotation_terms: Tensor
    ) -> tuple[None, Tensor]:
        """See `GatedDecoder.compute_context_terms`. The terms are the same for all hypotheses of a sentence."""
        return None, annotation_terms.expand(-1, state.shape[1], -1)


class GatedEncoderDecoder(EncoderDecoder):
    """Any encoder with a gated decoder and its maxout output.

    The order of a step is a setting (`step_order`), since the paper contradicts itself:

    - groundhog (the authors' code): p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_i, c_i).
    - appendix (A.2.2): p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_{i-1}, c_i).
    - section3 (Sec. 3.1): s_i = f(s_{i-1}, y_{i-1}, c_i); then p(y_i) from s_i, y_{i-1}, c_i.

    In all of them, c_i is computed from s_{i-1}, and the word before the first is a zero vector.

    encoder_class, decoder_class: of the model type; both are made from its architecture.
    """

    architecture: GatedDecoderArchitecture
    readout: MaxoutOutputLayer
    encoder_class: type[nn.Module]
    decoder_class: type[GatedDecoder]

    def __init__(self, architecture: GatedDecoderArchitecture, vocabulary_sizes: tuple[int, int]) -> None:
        super().__init__(architecture, vocabulary_sizes, embedding_bias=True)
        self.encoder, self.decoder = self.encoder_class(architecture), self.decoder_class(architecture)
        self.readout = MaxoutOutputLayer(architecture, self.decoder.context_size, vocabulary_sizes[1])

    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of App. B.1.

        Recurrent U, U_z, U_r are random orthogonal. v_a and all biases are 0. All other weights are drawn from
        N(0, 0.01^2), with the deviation as a setting. Model types with other kinds of weights extend this method.
        """
        if RECURRENT_NAMES.search(name):
            return orthogonal()
        return zero if ZERO_NAMES.search(name) else normal(self.architecture.init_std)

    def encode(self, source: Tensor, lengths: Tensor) -> Annotations:
        """See `EncoderDecoder.encode`."""
        return self.decoder.add_keys(self.encoder(self.source_embedding(source), lengths))

    def sentence_vectors(self, encoded: Annotations) -> Tensor | None:
        """See `EncoderDecoder.sentence_vectors`; the vector is the fixed context."""
        return encoded.summary if isinstance(self.decoder, FixedContextDecoder) else None

    def unroll(
        self, encoded: Annotations, target: Tensor, block_steps: int
    ) -> Iterator[tuple[DecoderValues, Tensor | None]]:
        """See `EncoderDecoder.unroll`. The output layer reads states (t, B, N), E y_{i-1} and contexts (t, B, C)."""
        # E y_i and E y_{i-1} of each step, (T, B, M)
        embedded = self.target_embedding(target)
        no_word = embedded.new_zeros(embedded[:1].shape)
        previous_words = torch.cat([no_word, embedded[:-1]])
        order = self.architecture.step_order
        unit_inputs = embedded if order == "groundhog" else previous_words

        state = self.decoder.start(encoded)
        for start in range(0, len(target), block_steps):
            block = slice(start, start + block_steps)
            states, contexts, attention = self.decoder.scan_steps(encoded, unit_inputs[block], state)
            output_states = states[1:] if order == "section3" else states[:-1]
            yield (output_states, previous_words[block], contexts), attention
            state = states[-1]

    def start_search(self, encoded: Annotations) -> DecoderState:
        """See `EncoderDecoder.start_search`."""
        return GatedDecoderState(self, encoded)


class GatedDecoderState:
    """The `DecoderState` of a gated decoder, with one state per hypothesis.

    Values that do not change from step to step are computed once per search: concatenated weights, and the terms of
    gates, candidate and output layer that depend on the context. For c_i = sum_j alpha_ij h_j these terms are sums:
    [C_z C_r C C_o] c_i = sum_j alpha_ij ([C_z C_r C C_o] h_j). So the products are computed once per source word
    instead of once per hypothesis and step.
    """

    def __init__(self, model: GatedEncoderDecoder, encoded: Annotations) -> None:
        unit, output_layer = model.decoder.unit, model.readout
        self.model, self.encoded, self.backend = model, encoded, model.backend.unfused()
        self.order = model.architecture.step_order

        # weights of the gated unit, and of the output layer
        self.W = unit.prepare_once("input", unit.input_weights)  # (M, 3N)
        self.bias = unit.input_bias()  # (3N,)
        self.U_gates = unit.prepare_once("gates", unit.gate_weights)  # (N, 2N)
        self.U = unit.prepare_once("candidate", lambda: unit.U)  # (N, N)
        self.UV_o = output_layer.prepare_once(  # (N + M, 2L)
            "search", lambda: torch.cat([output_layer.U_o, output_layer.V_o])
        )

        # [C_z C_r C C_o] h_j, (B, S, 3N + 2L)
        context_weights = model.prepare_once(
            "context", lambda: torch.cat([unit.context_weights(), output_layer.C_o], dim=1)
        )
        self.annotation_terms = self.backend.product(encoded.annotations, context_weights)

        # s_0 and E y_0 = 0 of one empty hypothesis per sentence: (B, 1, N), (B, 1, M)
        self.state = model.decoder.start(encoded).unsqueeze(1)
        self.previous_words = self.state.new_zeros(*self.state.shape[:2], model.architecture.embedding_size)

    def predict(self, active_hypotheses: Tensor | None = None) -> Prediction:
        """See `DecoderState.predict`."""
        # [C_z C_r C] c_i (B, K, 3N), C_o c_i (B, K, 2L)
        N = self.state.shape[2]
        attention, context_terms = self.model.decoder.compute_context_terms(
            self.state, self.encoded, self.annotation_terms
        )
        output_terms = context_terms[..., 3 * N :]
        self.unit_terms = context_terms[..., : 3 * N]  # kept for `reorder_and_append`

        # the state that the output layer reads: s_i for section3, else s_{i-1}
        output_state = self.state
        if self.order != "groundhog":
            self.state = self._next_state(self.state, self.previous_words, self.unit_terms)
        if self.order == "section3":
            output_state = self.state

        # the inputs of the output layer, of all hypotheses or the active ones: (R, N), (R, M), (R, 2L)
        inputs = [values.flatten(0, 1) for values in (output_state, self.previous_words, output_terms)]
        if active_hypotheses is not None:
            inputs = [values[active_hypotheses] for values in inputs]
        state, previous_words, terms = inputs

        # their features (R, F), then log p (R, V)
        readout = self.model.readout
        pre_activations = self.backend.affine(
            torch.cat([state, previous_words], dim=1), self.UV_o, readout.b_t
        )
        features = readout.apply_maxout(pre_activations.add_(terms))
        log_probs = readout.compute_log_probs(features)
        return Prediction(log_probs, attention)

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """See `DecoderState.reorder_and_append`."""
        rows = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        self.previous_words, self.state = self.model.target_embedding(words), self.state[rows, parents]
        if self.order == "groundhog":
            self.state = self._next_state(self.state, self.previous_words, self.unit_terms[rows, parents])

    def select_sentences(self, rows: Tensor) -> None:
        """See `DecoderState.select_sentences`."""
        self.encoded, self.annotation_terms = self.encoded.select(rows), self.annotation_terms[rows]
        self.state, self.previous_words = self.state[rows], self.previous_words[rows]

    def _next_state(self, state: Tensor, embedded: Tensor, unit_terms: Tensor) -> Tensor:
        """Return s_i = f(s_{i-1}, y, c_i), (B, K, N).

        state: s_{i-1}, (B, K, N). embedded: E y, (B, K, M). unit_terms: [C_z C_r C] c_i, (B, K, 3N).
        """
        flat_state = state.flatten(0, 1)
        next_state = torch.empty_like(flat_state)
        projected = self.backend.affine(embedded.flatten(0, 1), self.W, self.bias)
        recurrent = self.backend.product(flat_state, self.U_gates)
        write_gru_step(
            self.backend,
            projected=projected.add_(unit_terms.flatten(0, 1)),
            recurrent=recurrent,
            state=flat_state,
            U=self.U,
            mask=None,
            gates=torch.empty_like(recurrent),
            candidate=torch.empty_like(flat_state),
            next_state=next_state,
        )
        return next_state.view_as(state)
