"""The paper's decoder, a gated unit with a context and a deep output, and the model around it (App. A.1.1 and A.2.2).

Shapes: B sentences, S source length, T target length, K hypotheses per sentence, N hidden units, M embedding size,
C context size (N for RNNencdec, 2N for RNNsearch, a node's for grConv), V vocabulary size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from nmt.model.encoder_decoder import EncoderDecoder, Inputs, Steps
from nmt.model.gated_steps import GatedSteps
from nmt.model.gru import GatedUnit, scan, weight
from nmt.model.initialization import Start, normal, orthogonal, zero
from nmt.model.precision import affine, product
from nmt.model.readout import Candidates, MaxoutReadout
from nmt.settings.families import GatedDecoderArchitecture

RECURRENT = re.compile(r"\.(U|U_z|U_r)$")
ZERO = re.compile(r"\.(v_a|b|b_\w+)$")


@dataclass(frozen=True)
class Annotations:
    """What a gated decoder reads of source sentences.

    annotations: h_j, (B, S, C); where there is but one vector per sentence, (B, 1, C).
    padding: True where `annotations` is padding, (B, S).
    summary: what s_0 is made of, (B, N), or (B, C) where that is the context.
    keys: U_a h_j, (B, S, A), or None where nothing is aligned.
    """

    annotations: Tensor
    padding: Tensor
    summary: Tensor
    keys: Tensor | None = None

    def __len__(self) -> int:
        return len(self.annotations)

    @property
    def device(self) -> torch.device:
        """The device that holds the annotations."""
        return self.annotations.device

    @property
    def dtype(self) -> torch.dtype:
        """The number type of the annotations."""
        return self.annotations.dtype

    def select(self, rows: Tensor) -> Annotations:
        """The sentences at `rows`."""
        keys = None if self.keys is None else self.keys[rows]
        return Annotations(self.annotations[rows], self.padding[rows], self.summary[rows], keys)

    @classmethod
    def single(cls, vector: Tensor) -> Annotations:
        """One vector (B, C) per sentence, which is context and summary at once."""
        return cls(vector.unsqueeze(1), vector.new_zeros(len(vector), 1, dtype=torch.bool), vector)


class Encoder(Protocol):
    """What reads the source."""

    def __call__(self, embedded: Tensor, mask: Tensor) -> Annotations:
        """Read E x (S, B, M) under a 0/1 mask (S, B)."""


class GatedDecoder(nn.Module):
    """s_0 = tanh(W_s summary + b_s), or zero, and the gated unit with a context; a subclass says which context."""

    def __init__(
        self,
        architecture: GatedDecoderArchitecture,
        context: int,
        summary: int | None = None,
        starts_at_zero: bool = False,
    ) -> None:
        """`context`: size of c_i; `summary`: of what s_0 is made of, by default as large as a state."""
        super().__init__()
        hidden = architecture.hidden_units
        self.W_s = None if starts_at_zero else weight(summary or hidden, hidden)
        self.b_s = None if starts_at_zero else nn.Parameter(torch.empty(hidden))
        self.unit = GatedUnit(architecture.embedding_size, hidden, architecture.biases, context)

    def prepare(self, encoded: Annotations) -> Annotations:
        """Add what is computed once per sentence."""
        return encoded

    def start(self, encoded: Annotations) -> Tensor:
        """s_0, (B, N)."""
        if self.W_s is None or self.b_s is None:
            return encoded.summary.new_zeros(len(encoded), self.unit.hidden)
        return torch.tanh(affine(encoded.summary, self.W_s, self.b_s))

    def scan(
        self, encoded: Annotations, embedded: Tensor, start: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """States from `start` on (T+1, B, N), contexts (T, B, C) and weights (T, B, S) for words E y (T, B, M)."""
        raise NotImplementedError

    def context_share(self, state: Tensor, encoded: Annotations, shares: Tensor) -> Tensor:
        """The context's share of anything from its annotations', (B, S, X), for states (B, K, N): (B, K, X)."""
        raise NotImplementedError


class FixedContextDecoder(GatedDecoder):
    """RNNencdec's: one vector is c_i at every step, in the candidate, both gates and the readout.

    The paper does not say what s_0 is: a layer on that same vector as in the authors' code, or zero (`encdec_start`).
    """

    def __init__(self, architecture: GatedDecoderArchitecture, context: int) -> None:
        super().__init__(architecture, context, context, architecture.encdec_start == "zero")

    def scan(self, encoded: Annotations, embedded: Tensor, start: Tensor) -> tuple[Tensor, Tensor, None]:
        """As in `GatedDecoder`, without weights."""
        context = encoded.annotations[:, 0]
        projected = self.unit.project(embedded) + product(context, self.unit.context_weights())
        states = scan([self.unit], [projected], start.unsqueeze(0))[0]
        return states, context.expand(len(embedded), -1, -1), None

    def context_share(self, state: Tensor, encoded: Annotations, shares: Tensor) -> Tensor:
        """As in `GatedDecoder`: the same for all hypotheses of a sentence."""
        return shares.expand(-1, state.shape[1], -1)


class GatedEncoderDecoder(EncoderDecoder):
    """Any encoder with a gated decoder and its maxout output.

    The order of a step is a setting (`step_order`), since the paper contradicts itself:

    - groundhog: p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_i, c_i). What the authors ran.
    - appendix (A.2.2): p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_{i-1}, c_i).
    - section3 (Sec. 3.1): s_i = f(s_{i-1}, y_{i-1}, c_i); then p(y_i) from s_i, y_{i-1}, c_i.

    In all of them c_i comes from s_{i-1}, and the word before the first is a zero vector.
    """

    architecture: GatedDecoderArchitecture
    encoder: Encoder
    decoder: GatedDecoder
    readout: MaxoutReadout

    def __init__(
        self, architecture: GatedDecoderArchitecture, source_vocabulary: int, target_vocabulary: int
    ) -> None:
        bias = architecture.biases == "groundhog"
        super().__init__(architecture, source_vocabulary, target_vocabulary, bias)

    def start_value(self, name: str) -> Start:
        """App. B.1.

        Recurrent U, U_z, U_r: random orthogonal. v_a and all biases: 0. Everything else: N(0, 0.01^2), a deviation that
        is a setting. A family with weights of another kind says theirs itself.
        """
        if RECURRENT.search(name):
            return orthogonal
        return zero if ZERO.search(name) else normal(self.architecture.init_std)

    def encode(self, source: Tensor, mask: Tensor) -> Annotations:
        """As in `EncoderDecoder`."""
        return self.decoder.prepare(self.encoder(self.source_embedding(source), mask))

    def sentence_vectors(self, encoded: Annotations) -> Tensor | None:
        """As in `EncoderDecoder`: the fixed context."""
        return encoded.summary if isinstance(self.decoder, FixedContextDecoder) else None

    def unroll(
        self, encoded: Annotations, target: Tensor, steps: int
    ) -> Iterator[tuple[Inputs, Tensor | None]]:
        """As in `EncoderDecoder`: states (t, B, N), previous words (t, B, M) and contexts (t, B, C)."""
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

    def steps(self, encoded: Annotations, candidates: Candidates | None = None) -> Steps:
        """As in `EncoderDecoder`."""
        return GatedSteps(self, encoded, candidates)
