"""The common part of all model types: the interface of encoder and decoder, embeddings, and the training cost.

The letters of dimensions are those of `nmt.model`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Generator, Tensor, nn

from nmt.backend.matmul import BackendModule
from nmt.data.batches import Batch, word_mask
from nmt.model.loss import SummedNLL
from nmt.model.output_layer import OutputLayer
from nmt.model.weights import Initializer, create_weight
from nmt.settings.model_types import Architecture

DecoderValues = tuple[Tensor, ...]
"""The values that the output layer reads: state, previous word and context, or others in some model types."""


@dataclass(frozen=True)
class Encoded:
    """B source sentences as encoded by a model. Every field of a subclass is a tensor (B, ...) or None."""

    @property
    def tensor(self) -> Tensor:
        """The first field. All fields have its device and dtype."""
        first_field: Tensor = next(iter(vars(self).values()))
        return first_field

    def __len__(self) -> int:
        return len(self.tensor)

    def select(self, rows: Tensor) -> Self:
        """Return the sentences at `rows`."""
        selected_fields = {name: field[rows] for name, field in vars(self).items() if field is not None}
        return replace(self, **selected_fields)


class Prediction(NamedTuple):
    """The prediction of the next word in a step of a search.

    log_probs: log p(y_i), (R, V). attention: alpha_i of every hypothesis, (B, K, S), which is 0 on padding;
    None for a model type without attention.
    """

    log_probs: Tensor
    attention: Tensor | None


class DecoderState(Protocol):
    """The decoder's part of a search over B sentences: each step adds one word to every hypothesis.

    It starts with one empty hypothesis per sentence, and holds the state of the model for each hypothesis.
    """

    def predict(self, active_hypotheses: Tensor | None = None) -> Prediction:
        """Predict y_i for the hypotheses at `active_hypotheses`, which are indices into B * K, (R,); None: for all."""

    def reorder_and_append(self, parents: Tensor, words: Tensor) -> None:
        """Continue with new hypotheses: `words` (B, K), each appended to the hypothesis in `parents` (B, K)."""

    def select_sentences(self, rows: Tensor) -> None:
        """Keep only the sentences at `rows`."""


class Embedding(nn.Module):
    """The embedding matrix E (V, M), with a bias after the look-up if the model type has one, as in the authors' code.

    On a CPU, the gradient of E is sparse: it holds only the rows that were looked up, so words that a batch lacks cost
    nothing. On a GPU it is dense, since the CPU would have to wait for the GPU to know the rows.
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, has_bias: bool) -> None:
        super().__init__()
        self.E = create_weight(vocabulary_size, embedding_size)
        self.b = create_weight(embedding_size) if has_bias else None

    def forward(self, words: Tensor) -> Tensor:
        """Return E x for word ids of any shape: (...) -> (..., M)."""
        embedded = nn.functional.embedding(words, self.E, sparse=not self.E.is_cuda)
        return embedded if self.b is None else embedded + self.b


class EncoderDecoder(BackendModule, ABC):
    """A model of any type. Embeddings and output layer have `unused_ids` rows more than the vocabularies have words.

    `vocabulary_sizes` are the numbers of words of the source and the target vocabulary.

    A subclass adds encoder, decoder and `readout`, in this order. Initial values are drawn in the same order.
    """

    readout: OutputLayer

    def __init__(
        self,
        architecture: Architecture,
        vocabulary_sizes: tuple[int, int],
        embedding_bias: bool,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        source_words, target_words = vocabulary_sizes
        # `unused_ids` is a number of rows that belong to no word; the authors' models have 1
        M, unused_ids = architecture.embedding_size, architecture.unused_ids
        self.source_embedding = Embedding(source_words + unused_ids, M, embedding_bias)
        self.target_embedding = Embedding(target_words + unused_ids, M, embedding_bias)

    # Methods of a model type ------------------------------------------------------------------------------------------

    @abstractmethod
    def choose_initializer(self, name: str) -> Initializer:
        """Return the initializer of the weight with this dotted name."""

    @abstractmethod
    def encode(self, source: Tensor, lengths: Tensor) -> Any:
        """Encode padded sources (S, B) with their lengths (B,), as input for `unroll` and `start_search`."""

    @abstractmethod
    def unroll(
        self, encoded: Any, target: Tensor, block_steps: int
    ) -> Iterator[tuple[DecoderValues, Tensor | None]]:
        """Run the decoder over the target words (T, B), in blocks of `block_steps` steps.

        Yields two values for each block of t steps: the input of the output layer, tensors (t, B, ...), and the
        attention (t, B, S), or None for a model type without attention.
        """

    @abstractmethod
    def start_search(self, encoded: Any) -> DecoderState:
        """Return the state of a search over encoded sentences."""

    def sentence_vectors(self, encoded: Any) -> Tensor | None:
        """Return the fixed vector of each sentence, (B, size); None if sentences are not encoded as one vector."""
        return None

    # Methods of all models --------------------------------------------------------------------------------------------

    def initialize_weights(self, seed: int) -> None:
        """Draw all weights in the order of their definition. Equal seeds give equal models on equal CPUs.

        The last digits depend on the CPU: its LAPACK computes the orthogonal matrices, and its vector instructions the
        normally distributed numbers.
        """
        generator = Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                fill = self.choose_initializer(name)
                fill(weight, generator)

    def total_nll(self, batch: Batch, include_padding: bool = False) -> Tensor:
        """Return the sum of -log p over all target words and end symbols in nats, a scalar: the training cost.

        With `include_padding`, the cost is also computed at padding, and multiplied by 0. A CUDA graph needs this: its
        kernels depend on the shapes of a batch alone. Cost and gradients only differ in their last digits.
        """
        # what the output layer reads at all steps, (T, B, ...) each: a single block, whose attention is not needed
        encoded = self.encode(batch.source, batch.source_lengths)
        decoder_values, _ = next(self.unroll(encoded, batch.target, block_steps=len(batch.target)))

        # the positions at which the cost is computed: all, with a mask for padding, or only those without padding
        positions, mask = None, None
        if include_padding:
            mask = word_mask(batch.target_lengths, len(batch.target)).flatten().to(self.readout.W_o.dtype)
        else:
            positions = batch.positions

        # the cost at these positions
        inputs = [select_positions(positions, values) for values in decoder_values]  # (P, ...) each
        features = self.readout.compute_features(*inputs)  # (P, F)
        words = select_positions(positions, batch.target)  # (P,)
        cost: Tensor = SummedNLL.apply(  # type: ignore[no-untyped-call]
            self.backend, features, self.readout.W_o, self.readout.b_o, words, mask
        )
        return cost


def select_positions(positions: Tensor | None, values: Tensor) -> Tensor:
    """Return the rows (P, ...) of values (T, B, ...) at some positions of the flattened T * B; None: at all positions.

    Nothing is copied if all positions are selected.
    """
    flat_values = values.flatten(0, 1)
    if positions is None or len(positions) == len(flat_values):
        return flat_values
    return flat_values[positions]
