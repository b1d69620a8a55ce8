"""The parts that the models of all types share: encoder, decoder, embeddings and output layer.

Shapes: B sentences, S source length, T target length, K hypotheses per sentence, R of the B * K that are active,
P positions of the T * B that are no padding, M embedding size, V vocabulary size, W candidates. Steps come
first, (T, B, ...), where a recurrence runs over them; sentences come first, (B, S, ...), where attention does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Generator, Tensor, nn

from nmt.backend.products import Module
from nmt.data.batches import Batch, word_mask
from nmt.model.loss import summed_nll
from nmt.model.output_layer import Candidates, OutputLayer
from nmt.model.weights import Initializer, create_weight
from nmt.settings.model_types import Architecture

Inputs = tuple[Tensor, ...]
"""Inputs of the output layer at each position: state, previous word and context, or others, by model type."""


@dataclass(frozen=True)
class Encoded:
    """B source sentences as encoded by a model. The fields of a subclass are tensors (B, ...); the last may be None."""

    @property
    def tensor(self) -> Tensor:
        """The first field."""
        first_field: Tensor = next(iter(vars(self).values()))
        return first_field

    def __len__(self) -> int:
        return len(self.tensor)

    def select(self, rows: Tensor) -> Self:
        """Return the sentences at `rows`."""
        return replace(self, **{name: part[rows] for name, part in vars(self).items() if part is not None})


class Prediction(NamedTuple):
    """What a step of a search predicts.

    log_probs: log p(y_i), (R, V) or (R, W). attention: alpha_i of every hypothesis, (B, K, S), which is 0 on padding;
    None for a model type without attention.
    """

    log_probs: Tensor
    attention: Tensor | None


class DecoderState(Protocol):
    """The decoder's part of a search over B sentences: each step adds one word to every hypothesis.

    It starts with one empty hypothesis per sentence, and keeps the states that its model type needs from step to step.
    """

    def predict(self, active_rows: Tensor | None = None) -> Prediction:
        """Predict y_i for all hypotheses, or for those at `active_rows`, indices into B * K, (R,)."""

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """Continue with new hypotheses: `words` (B, K), each appended to the hypothesis in `parents` (B, K)."""

    def select_sentences(self, rows: Tensor) -> None:
        """Keep only the sentences at `rows`."""


class Embedding(nn.Module):
    """The embedding matrix E (V, M), with a bias after the look-up if the model type has one, as in the authors' code.

    On a processor, the gradient of E is sparse: it holds only the rows that were looked up, so words that a batch lacks
    cost nothing. On a GPU it is dense, since the host would wait to know the rows.
    """

    def __init__(self, vocabulary: int, size: int, bias: bool) -> None:
        super().__init__()
        self.E = create_weight(vocabulary, size)
        self.b = nn.Parameter(torch.empty(size)) if bias else None

    def forward(self, words: Tensor) -> Tensor:
        """Return E x for word ids of any shape: (...) -> (..., M)."""
        embedded = nn.functional.embedding(words, self.E, sparse=not self.E.is_cuda)
        return embedded if self.b is None else embedded + self.b


class EncoderDecoder(Module, ABC):
    """A model of any type. Embeddings and output layer have `unused_ids` rows more than the vocabularies have words.

    A model type adds encoder, decoder and `readout`, in this order. Initial values are drawn in the same order.
    """

    readout: OutputLayer

    def __init__(
        self, architecture: Architecture, source_vocabulary: int, target_vocabulary: int, embedding_bias: bool
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.target_vocabulary = target_vocabulary
        size, unused = architecture.embedding_size, architecture.unused_ids
        self.source_embedding = Embedding(source_vocabulary + unused, size, embedding_bias)
        self.target_embedding = Embedding(target_vocabulary + unused, size, embedding_bias)

    # What a model type says -----------------------------------------------------------------------------------------

    @abstractmethod
    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of the weight with this dotted name."""

    @abstractmethod
    def encode(self, source: Tensor, lengths: Tensor) -> Any:
        """Encode padded sources (S, B) with their lengths (B,), as input for `unroll` and `start_search`."""

    @abstractmethod
    def unroll(self, encoded: Any, target: Tensor, steps: int) -> Iterator[tuple[Inputs, Tensor | None]]:
        """Run the decoder over the target words (T, B), `steps` of them at a time.

        Yields the inputs of the output layer before each word, (t, B, ...) each, and the attention (t, B, S), or None
        for a model type without attention.
        """

    @abstractmethod
    def start_search(self, encoded: Any, candidates: Candidates | None = None) -> DecoderState:
        """Return the state of a search over encoded sentences, restricted to the candidate words if there are any."""

    def sentence_vectors(self, encoded: Any) -> Tensor | None:
        """Return the fixed vector of each sentence, (B, D); None if a sentence is not encoded as one fixed vector."""
        return None

    # What is made of it ----------------------------------------------------------------------------------------------

    def initialize(self, seed: int) -> None:
        """Draw all weights in the order of their definition. Equal seeds give equal models, but for their last digits.

        Those depend on the processor: LAPACK makes the orthogonal matrices, and vector instructions the normal numbers.
        """
        generator = Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                self.choose_initializer(name)(weight, generator)

    def total_nll(self, batch: Batch, include_padding: bool = False) -> Tensor:
        """Return the sum of -log p over all target words and end symbols in nats, a scalar: the training cost.

        With `include_padding`, padding is computed, too, and counts 0, so that the shapes of a batch alone decide what
        is computed, as in a CUDA graph. Cost and gradients only differ in their last digits.
        """
        encoded, target, readout = self.encode(batch.source, batch.source_lengths), batch.target, self.readout
        ((inputs, _),) = self.unroll(encoded, target, len(target))
        if include_padding:
            mask = word_mask(batch.target_lengths, len(target)).flatten().to(readout.W_o.dtype)
            features, words = readout.features(*(part.flatten(0, 1) for part in inputs)), target.flatten()
            return summed_nll(self.backend, features, readout.W_o, readout.b_o, words, mask)
        positions = batch.positions
        features = readout.features(*(select_positions(positions, part) for part in inputs))
        return summed_nll(self.backend, features, readout.W_o, readout.b_o, target.flatten()[positions])


def select_positions(positions: Tensor, values: Tensor) -> Tensor:
    """Return the rows (P, ...) of values (T, B, ...) at positions of the flattened T * B; no copy if P = T * B."""
    flat = values.flatten(0, 1)
    return flat if len(positions) == len(flat) else flat[positions]
