"""RNNencdec and RNNsearch, each an encoder and a decoder named in the config (paper, Sec. 2.2, 3 and App. A).

Shapes: B sentences, S source length, T target length, K hypotheses a sentence, N hidden units, M embedding size,
C context size (N for RNNencdec, 2N for RNNsearch), V vocabulary size. Steps come first, (T, B, ...), where a
recurrence runs over them; sentences come first, (B, S, ...), where attention does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from nmt.config.schema import Architecture
from nmt.decoding.steps import ModelSteps
from nmt.model.alignment import Alignment, AttentionScan
from nmt.model.gru import GatedUnit, scan, weight
from nmt.model.initialization import initialize
from nmt.model.loss import summed_nll
from nmt.model.precision import affine, product
from nmt.model.readout import Readout

Family = Literal["rnnencdec", "rnnsearch"]
STEPS = 256
"""Target words whose states and attention are in memory at once when a translation is read without gradients."""


@dataclass(frozen=True)
class Encoded:
    """What a decoder reads of a source sentence.

    annotations: h_j, (B, S, C); for RNNencdec the one vector h_{T_x}, (B, 1, N).
    padding: True where `annotations` is padding, (B, S).
    summary: what s_0 is made of, (B, N): backward h_1 for RNNsearch, forward h_{T_x} for RNNencdec.
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
        """Where it lies."""
        return self.annotations.device

    @property
    def dtype(self) -> torch.dtype:
        """Of the annotations."""
        return self.annotations.dtype

    def select(self, rows: Tensor) -> Encoded:
        """The sentences at `rows`."""
        keys = None if self.keys is None else self.keys[rows]
        return Encoded(self.annotations[rows], self.padding[rows], self.summary[rows], keys)


class Embedding(nn.Module):
    """E, (V, M), with a bias added after the look-up, as in the authors' code; with biases `every` without.

    `sparse` has the gradient of E hold only the rows that were looked up, for an optimizer that can use that.
    """

    def __init__(self, vocabulary: int, architecture: Architecture) -> None:
        super().__init__()
        self.E = weight(vocabulary, architecture.embedding_size)
        self.b = (
            nn.Parameter(torch.empty(architecture.embedding_size))
            if architecture.biases == "groundhog"
            else None
        )
        self.sparse = False

    def forward(self, words: Tensor) -> Tensor:
        """E x for word ids of any shape: (...) -> (..., M)."""
        embedded = nn.functional.embedding(words, self.E, sparse=self.sparse)
        return embedded if self.b is None else embedded + self.b


class ForwardEncoder(nn.Module):
    """RNNencdec's: c = h_{T_x}, the last forward state."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.forwards = encoder_unit(architecture)
        self.context_size = architecture.hidden_units

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        """Read E x (S, B, M) under a 0/1 mask (S, B)."""
        start = embedded.new_zeros(1, embedded.shape[1], self.forwards.hidden)
        states = scan([self.forwards], [self.forwards.project(embedded)], start, mask.unsqueeze(0))
        last = states[0, -1]  # padded steps carry the state over, so this is h_{T_x} of every sentence
        return Encoded(last.unsqueeze(1), torch.zeros_like(mask[:1].t(), dtype=torch.bool), last)


class BidirectionalEncoder(nn.Module):
    """RNNsearch's: h_j = [forward h_j ; backward h_j] (Sec. 3.2, App. A.2.1)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.forwards, self.backwards = encoder_unit(architecture), encoder_unit(architecture)
        self.context_size = 2 * architecture.hidden_units

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        """Read E x (S, B, M) under a 0/1 mask (S, B)."""
        start = embedded.new_zeros(2, embedded.shape[1], self.forwards.hidden)
        projected = [self.forwards.project(embedded), self.backwards.project(embedded.flip(0))]
        masks = torch.stack([mask, mask.flip(0)])
        forwards, backwards = scan([self.forwards, self.backwards], projected, start, masks)[:, 1:]
        annotations = torch.cat([forwards, backwards.flip(0)], dim=2).transpose(0, 1).contiguous()
        return Encoded(annotations, mask.t() == 0, backwards[-1])


def at(positions: Tensor, values: Tensor) -> Tensor:
    """The rows (P, ...) of values (T, B, ...) at positions of the flattened T * B; where P is all of them, no copy."""
    flat = values.flatten(0, 1)
    return flat if len(positions) == len(flat) else flat[positions]


def encoder_unit(architecture: Architecture) -> GatedUnit:
    """A unit that reads words."""
    return GatedUnit(architecture.embedding_size, architecture.hidden_units, architecture.biases)


class Decoder(nn.Module):
    """What both decoders share: s_0 = tanh(W_s summary + b_s) and the gated unit with a context."""

    def __init__(self, architecture: Architecture, context: int, starts_at_zero: bool = False) -> None:
        super().__init__()
        hidden = architecture.hidden_units
        self.W_s = None if starts_at_zero else weight(hidden, hidden)
        self.b_s = None if starts_at_zero else nn.Parameter(torch.empty(hidden))
        self.unit = GatedUnit(architecture.embedding_size, hidden, architecture.biases, context)

    def start(self, encoded: Encoded) -> Tensor:
        """s_0, (B, N)."""
        if self.W_s is None or self.b_s is None:
            return torch.zeros_like(encoded.summary)
        return torch.tanh(affine(encoded.summary, self.W_s, self.b_s))

    def from_context(self, context: Tensor) -> Tensor:
        """C c_i of gates and candidate, (..., C) -> (..., 3N)."""
        return product(context, self.unit.context_weights())


class FixedContextDecoder(Decoder):
    """RNNencdec's: c_i = h_{T_x} at every step, in the candidate, both gates and the readout.

    The paper does not say what s_0 is: a layer on that same state as in the authors' code, or zero (`encdec_start`).
    """

    def __init__(self, architecture: Architecture, context: int) -> None:
        super().__init__(architecture, context, architecture.encdec_start == "zero")

    def prepare(self, encoded: Encoded) -> Encoded:
        """Nothing to prepare."""
        return encoded

    def scan(self, encoded: Encoded, embedded: Tensor, start: Tensor) -> tuple[Tensor, Tensor, None]:
        """States from `start` on (T+1, B, N) and contexts (T, B, C) for input words E y (T, B, M)."""
        context = encoded.annotations[:, 0]
        projected = self.unit.project(embedded) + self.from_context(context)
        states = scan([self.unit], [projected], start.unsqueeze(0))[0]
        return states, context.expand(len(embedded), -1, -1), None

    def context_share(self, state: Tensor, encoded: Encoded, shares: Tensor) -> Tensor:
        """The fixed context's share of anything, (B, 1, X), for states (B, K, N): (B, K, X)."""
        return shares.expand(-1, state.shape[1], -1)


class AttentionDecoder(Decoder):
    """RNNsearch's: c_i from the alignment model, given s_{i-1}."""

    def __init__(self, architecture: Architecture, context: int) -> None:
        super().__init__(architecture, context)
        self.alignment = Alignment(
            architecture.hidden_units, context, architecture.alignment_units, architecture.biases
        )

    def prepare(self, encoded: Encoded) -> Encoded:
        """With the keys U_a h_j, computed once a sentence."""
        return replace(encoded, keys=self.alignment.keys(encoded.annotations))

    def scan(self, encoded: Encoded, embedded: Tensor, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """States from `start` on (T+1, B, N), contexts (T, B, C) and weights (T, B, S) for words E y (T, B, M)."""
        unit = self.unit
        states, contexts, weights = AttentionScan.apply(  # type: ignore[no-untyped-call]
            unit.project(embedded), start, encoded.annotations, encoded.keys, encoded.padding,
            self.alignment.W_a, self.alignment.v_a, unit.gate_weights(), unit.U, unit.context_weights(),
        )  # fmt: skip
        return states, contexts, weights

    def context_share(self, state: Tensor, encoded: Encoded, shares: Tensor) -> Tensor:
        """The context's share of anything from its annotations', (B, S, X), for states (B, K, N): (B, K, X)."""
        assert encoded.keys is not None
        return torch.bmm(self.alignment.weights(state, encoded.keys, encoded.padding), shares)


ENCODERS: dict[Family, type[ForwardEncoder] | type[BidirectionalEncoder]] = {
    "rnnencdec": ForwardEncoder,
    "rnnsearch": BidirectionalEncoder,
}
DECODERS: dict[Family, type[FixedContextDecoder] | type[AttentionDecoder]] = {
    "rnnencdec": FixedContextDecoder,
    "rnnsearch": AttentionDecoder,
}


class EncoderDecoder(nn.Module):
    """An encoder and a decoder with their embeddings and readout.

    The order of a step is a reading (`step_order`), since the paper contradicts itself:

    - groundhog: p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_i, c_i). What the authors ran.
    - appendix (A.2.2): p(y_i) from s_{i-1}, y_{i-1}, c_i; then s_i = f(s_{i-1}, y_{i-1}, c_i).
    - section3 (Sec. 3.1): s_i = f(s_{i-1}, y_{i-1}, c_i); then p(y_i) from s_i, y_{i-1}, c_i.

    In all of them c_i comes from s_{i-1}, and the word before the first is a zero vector.

    Embeddings and output layer may have `unused_ids` more than the vocabularies, as the authors' have one.
    """

    def __init__(
        self, family: Family, architecture: Architecture, source_vocabulary: int, target_vocabulary: int
    ) -> None:
        super().__init__()
        self.family, self.architecture = family, architecture
        self.target_vocabulary = target_vocabulary
        self.source_embedding = Embedding(source_vocabulary + architecture.unused_ids, architecture)
        self.target_embedding = Embedding(target_vocabulary + architecture.unused_ids, architecture)
        self.encoder = ENCODERS[family](architecture)
        context = self.encoder.context_size
        self.decoder = DECODERS[family](architecture, context)
        self.readout = Readout(
            architecture.hidden_units,
            architecture.embedding_size,
            context,
            architecture.maxout_units,
            target_vocabulary + architecture.unused_ids,
            architecture.output_layer,
        )

    @classmethod
    def create(
        cls, family: Family, architecture: Architecture, vocabularies: tuple[int, int], seed: int
    ) -> EncoderDecoder:
        """A model with B.1's start values; `vocabularies` are both sizes, source first."""
        model = cls(family, architecture, *vocabularies)
        initialize(model, architecture, seed)
        return model

    def encode(self, source: Tensor, mask: Tensor) -> Encoded:
        """Read source words (S, B) under a 0/1 mask (S, B)."""
        encoded = self.encoder(self.source_embedding(source), mask)
        return self.decoder.prepare(encoded)

    def read_out(
        self, source: Tensor, source_mask: Tensor, target: Tensor, positions: Tensor
    ) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor | None]:
        """What the readout sees before each of the target's words, given the words before them.

        Args:
            source, source_mask: words and 0/1 mask, (S, B).
            target: words with the end symbol, (T, B), padded with any word.
            positions: indices into the flattened (T * B) that are no padding, in order, (P,).

        Returns:
            State (P, N), previous word (P, M) and context (P, C), and alignment weights (T, B, S), or None for
            RNNencdec.
        """
        encoded = self.encode(source, source_mask)
        ((inputs, weights),) = self._runs(encoded, target, len(target))
        state, word, context = (at(positions, part) for part in inputs)
        return (state, word, context), weights

    def read_in_runs(
        self, source: Tensor, source_mask: Tensor, target: Tensor
    ) -> Iterator[tuple[tuple[Tensor, Tensor, Tensor], Tensor | None]]:
        """As `read_out`, some steps t after the others and at all positions: (t, B, N), (t, B, M), (t, B, C)."""
        return self._runs(self.encode(source, source_mask), target, STEPS)

    def _runs(
        self, encoded: Encoded, target: Tensor, steps: int
    ) -> Iterator[tuple[tuple[Tensor, Tensor, Tensor], Tensor | None]]:
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

    def forward(
        self, source: Tensor, source_mask: Tensor, target: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (P, V) of the target's words and alignment weights; arguments as in `read_out`."""
        inputs, weights = self.read_out(source, source_mask, target, positions)
        return self.readout(*inputs), weights

    def total_nll(
        self,
        source: Tensor,
        source_mask: Tensor,
        target: Tensor,
        positions: Tensor,
        mask: Tensor | None = None,
    ) -> Tensor:
        """-log p of all target words in nats, a scalar: the cost of training.

        Arguments as in `read_out`; `mask` (P,) is 0 at positions that don't count after all.
        """
        inputs, _ = self.read_out(source, source_mask, target, positions)
        words = at(positions, target.unsqueeze(2)).squeeze(1)
        return summed_nll(self.readout.features(*inputs), self.readout.W_o, self.readout.b_o, words, mask)

    def steps(self, encoded: Encoded) -> ModelSteps:
        """A search's way through the sentences that were read."""
        return ModelSteps(self, encoded)
