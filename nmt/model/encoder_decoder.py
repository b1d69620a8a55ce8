"""What every model is, whatever its family: an encoder and a decoder with their embeddings and an output layer.

Shapes: B sentences, S source length, T target length, K hypotheses per sentence, R of the B * K that are still alive,
P positions of the T * B that are no padding, M embedding size, V vocabulary size, W candidates. Steps come
first, (T, B, ...), where a recurrence runs over them; sentences come first, (B, S, ...), where attention does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from nmt.model.gru import weight
from nmt.model.initialization import Start
from nmt.model.loss import summed_nll
from nmt.model.readout import Candidates, OutputLayer
from nmt.settings.families import Architecture

if TYPE_CHECKING:
    from nmt.model.reference import Reference

Inputs = tuple[Tensor, ...]
"""What the output layer reads at each position: state, previous word, context, or whatever a family has."""


class Encoded(Protocol):
    """B sentences as a model, or several, have read them."""

    def __len__(self) -> int: ...

    @property
    def device(self) -> torch.device:
        """Where they lie."""

    @property
    def dtype(self) -> torch.dtype:
        """The type of the numbers that a search adds up."""

    def select(self, rows: Tensor) -> Encoded:
        """The sentences at `rows`."""


class Steps(Protocol):
    """A search's way through B sentences that were read: one word more per step for every hypothesis.

    It starts with one empty hypothesis per sentence, and carries from step to step whatever its family needs.
    """

    def predict(self, alive: Tensor | None = None) -> Tensor:
        """log p(y_i) behind each hypothesis, or each of those at `alive` (R,), indices into B * K: (R, V) or (R, W)."""

    def extend(self, parents: Tensor, words: Tensor) -> None:
        """Go on with hypotheses made of `words` (B, K), each behind the hypothesis in `parents` (B, K)."""

    def keep(self, rows: Tensor) -> None:
        """Forget the sentences that are not at `rows`."""


class Embedding(nn.Module):
    """E, (V, M), with a bias added after the look-up where the family has one, as in the authors' code.

    `sparse` has the gradient of E hold only the rows that were looked up, for an optimizer that can use that.
    """

    def __init__(self, vocabulary: int, size: int, bias: bool) -> None:
        super().__init__()
        self.E = weight(vocabulary, size)
        self.b = nn.Parameter(torch.empty(size)) if bias else None
        self.sparse = False

    def forward(self, words: Tensor) -> Tensor:
        """E x for word ids of any shape: (...) -> (..., M)."""
        embedded = nn.functional.embedding(words, self.E, sparse=self.sparse)
        return embedded if self.b is None else embedded + self.b


class EncoderDecoder(nn.Module, ABC):
    """A model of any family. Embeddings and output layer have `unused_ids` more rows than the vocabularies have words.

    A family adds encoder, decoder and `readout`, in this order, in which the start values are drawn.
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

    # What a family says ----------------------------------------------------------------------------------------------

    @abstractmethod
    def start_value(self, name: str) -> Start:
        """How the weight of this dotted name starts."""

    @abstractmethod
    def encode(self, source: Tensor, mask: Tensor) -> Any:
        """Read source words (S, B) under a 0/1 mask (S, B): an `Encoded` that `unroll` and `steps` understand."""

    @abstractmethod
    def unroll(self, encoded: Any, target: Tensor, steps: int) -> Iterator[tuple[Inputs, Tensor | None]]:
        """Run over the target's words (T, B), `steps` of them at a time.

        Yields what the output layer reads before each word, (t, B, ...) each, and the attention, (t, B, S), or None
        for a family that does not align.
        """

    @abstractmethod
    def steps(self, encoded: Any, candidates: Candidates | None = None) -> Steps:
        """A search's way through the sentences that were read; with candidates it writes no other words."""

    @abstractmethod
    def reference(self) -> Reference:
        """The same model as plain loops over the same weights, for tests and readers."""

    def sentence_vectors(self, encoded: Any) -> Tensor | None:
        """All that the decoder is told of each sentence, (B, D); None where there is more than one vector of it."""
        return None

    # What is made of it ----------------------------------------------------------------------------------------------

    def read_out(
        self, source: Tensor, source_mask: Tensor, target: Tensor, positions: Tensor
    ) -> tuple[Inputs, Tensor | None]:
        """What the output layer reads before each of the target's words, given the words before them.

        Args:
            source, source_mask: words and 0/1 mask, (S, B).
            target: words with the end symbol, (T, B), padded with any word.
            positions: indices into the flattened (T * B) that are no padding, in order, (P,).

        Returns:
            The output layer's inputs, (P, ...) each, and attention (T, B, S), or None.
        """
        encoded = self.encode(source, source_mask)
        ((inputs, weights),) = self.unroll(encoded, target, len(target))
        return tuple(at(positions, part) for part in inputs), weights

    def forward(
        self, source: Tensor, source_mask: Tensor, target: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (P, V) of the target's words and attention; arguments as in `read_out`."""
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


def at(positions: Tensor, values: Tensor) -> Tensor:
    """The rows (P, ...) of values (T, B, ...) at positions of the flattened T * B; where P is all of them, no copy."""
    flat = values.flatten(0, 1)
    return flat if len(positions) == len(flat) else flat[positions]
