"""Minibatches as in App. B.2: fetch 20 x 80 pairs in order, sort them by length, split them into 20.

Binarization shuffles the data once. Here pairs are read in that order, or in an order drawn by a seed. After the last
pair comes the first again. Pairs with a side longer than the model's limit are skipped. The number of an update alone
determines its pairs, so a resumed run only needs its number of updates.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.data.bitext import Bitext
from nmt.data.vocabulary import END
from nmt.errors import UserError

Indices = NDArray[np.int64]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Batch:
    """B pairs of sentences as ids, each sentence with padding behind it.

    Attributes:
        source: (S, B).
        target: (T, B).
        source_lengths: (B,), words and the end symbol. Positions behind them are padding and count nowhere.
        target_lengths: (B,).
    """

    source: Tensor
    target: Tensor
    source_lengths: Tensor
    target_lengths: Tensor

    def __len__(self) -> int:
        return self.source.shape[1]

    @property
    def positions(self) -> Tensor:
        """Indices of words and end symbols, without padding, in the flattened target (T * B,).

        On a GPU, this waits for their number.
        """
        return word_mask(self.target_lengths, len(self.target)).flatten().nonzero().squeeze(1)

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the four tensors, always in the same order."""
        return tuple(vars(self).values())

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a different device. The copy from pinned memory is asynchronous."""
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in self.tensors()))

    def pin_memory(self) -> Batch:
        """Return the batch in pinned memory, from which a GPU can copy asynchronously."""
        return Batch(*(tensor.pin_memory() for tensor in self.tensors()))


def word_mask(lengths: Tensor, steps: int) -> Tensor:
    """Return the mask of padded sentences: True at words and end symbols, False at padding, (steps, B)."""
    return torch.arange(steps, device=lengths.device).unsqueeze(1) < lengths


class PairsWithinLimit:
    """The pairs of a bitext that are short enough for a model, in the order of training.

    With a seed, the order of the shuffled pairs differs: pair i of N is the shuffled pair (offset + stride * i) modulo
    N, where stride and N are coprime.

    Attributes:
        rows: the indices of the pairs in the bitext, (N,), 8 bytes each.
        max_length: the number of words of the longest side among the pairs.
    """

    def __init__(self, bitext: Bitext, max_words: int, seed: int | None = None) -> None:
        """Take the pairs with at most `max_words` on both sides. Raises a UserError if there are none."""
        lengths = bitext.compute_longer_lengths(np.arange(len(bitext)))
        self.bitext = bitext
        self.rows = np.flatnonzero(lengths <= max_words)
        if not len(self):
            raise UserError(
                f"{bitext.folder}: none of its {len(bitext)} pairs has at most {max_words} words on both sides; "
                f"raise the model's max_words or use different text"
            )
        self.max_length = int(lengths[self.rows].max())

        # Pair k is pair offset + k * stride, modulo the number of pairs. If the stride is coprime to this number, each
        # pair comes once, in a mixed order that needs no memory.
        self._offset, self._stride = 0, 1
        if seed is not None:
            generator = np.random.Generator(np.random.PCG64(seed))
            self._offset = int(generator.integers(len(self)))
            self._stride = 0
            while gcd(self._stride, len(self)) != 1:
                self._stride = int(generator.integers(1, len(self) + 1))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, start: int, count: int) -> Indices:
        """Return the rows (count,) of the pairs from number `start` on. After the last pair comes the first again."""
        pair_numbers = start + np.arange(count)
        return self.rows[(self._offset + self._stride * pair_numbers) % len(self)]


def training_batches(
    pairs: PairsWithinLimit,
    batch_size: int,
    batches_per_sort: int,
    source_eos: bool,
    start_update: int,
    length_bucket: int | None = None,
) -> Generator[Batch]:
    """Yield endless minibatches (App. B.2).

    Args:
        pairs: the text, in the order of training.
        batch_size: pairs of a batch.
        batches_per_sort: batches of a group, whose pairs are sorted by the longer of both sides. Equal lengths keep
            their order. The shortest batch comes first.
        source_eos: whether the model reads the end symbol of the source.
        start_update: the number of the first update, from 0.
        length_bucket: see `pad_pairs`.
    """
    # A resumed run may begin within a group. It skips the batches of the group on which it has trained already.
    group_size = batch_size * batches_per_sort
    group_number, batches_to_skip = divmod(start_update, batches_per_sort)
    while True:
        rows = sort_by_length(pairs.bitext, pairs.take(group_number * group_size, group_size))
        for start in range(batches_to_skip * batch_size, group_size, batch_size):
            yield make_batch(pairs.bitext, rows[start : start + batch_size], source_eos, length_bucket)
        group_number += 1
        batches_to_skip = 0


def sort_by_length(bitext: Bitext, rows: Indices) -> Indices:
    """Return rows sorted by the longer of both sides, shortest first."""
    return rows[np.argsort(bitext.compute_longer_lengths(rows), kind="stable")]


def evaluation_batches(bitext: Bitext, rows: Indices, batch_size: int, source_eos: bool) -> Iterator[Batch]:
    """Yield batches of the pairs at `rows`, each pair once, with pairs of similar length together."""
    rows = sort_by_length(bitext, rows)
    for start in range(0, len(rows), batch_size):
        yield make_batch(bitext, rows[start : start + batch_size], source_eos)


def make_batch(bitext: Bitext, rows: Indices, source_eos: bool, length_bucket: int | None = None) -> Batch:
    """Return the batch of the pairs at `rows`; see `pad_pairs`."""
    sources = [bitext.source(row) for row in rows]
    targets = [bitext.target(row) for row in rows]
    return pad_pairs(sources, targets, source_eos, length_bucket)


def pad_pairs(
    sources: Sequence[NDArray[Any]],
    targets: Sequence[NDArray[Any]],
    source_eos: bool,
    length_bucket: int | None = None,
) -> Batch:
    """Return a batch of pairs of ids.

    Args:
        sources: B arrays of ids without end symbols.
        targets: B arrays of ids without end symbols. The batch has an end symbol after each.
        source_eos: whether the model reads an end symbol after the source. A source without words is always read as a
            single end symbol, because encoder and attention need at least one position.
        length_bucket: if given, both sides are padded to a multiple of this many words, plus the end symbol, so that
            batches have few shapes. Otherwise, each side is as long as its longest sentence.
    """
    source_eos_count = 1 if source_eos else 0
    source_lengths = np.array([max(1, len(ids) + source_eos_count) for ids in sources])
    target_lengths = np.array([len(ids) + 1 for ids in targets])

    # the lengths to which both sides are padded
    source_steps, target_steps = int(source_lengths.max()), int(target_lengths.max())
    if length_bucket is not None:
        max_words = max(source_steps, target_steps) - 1
        bucket_count = -(-max_words // length_bucket)  # rounded up
        source_steps = target_steps = bucket_count * length_bucket + 1
    return Batch(
        source=torch.from_numpy(_pad_sentences(sources, source_steps)),
        target=torch.from_numpy(_pad_sentences(targets, target_steps)),
        source_lengths=torch.from_numpy(source_lengths),
        target_lengths=torch.from_numpy(target_lengths),
    )


def _pad_sentences(sentences: Sequence[NDArray[Any]], steps: int) -> Indices:
    """Return the ids as an array (steps, B). End symbols follow each sentence, also as padding."""
    padded = np.full((steps, len(sentences)), END, dtype=np.int64)
    for column, ids in enumerate(sentences):
        padded[: len(ids), column] = ids
    return padded


# --- sentences that are translated or scored --------------------------------------------------------------------------

WORDS_PER_SENTENCE = 50
"""Words per sentence of a full batch, padding included. Longer lines come in smaller batches."""


def batches_by_length(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield batches of sentences of similar length. A batch is a list of indices into `lengths`.

    A batch has at most `batch_size` sentences, and at most 50 * `batch_size` words, padding included.
    """
    batch: list[int] = []
    shortest_first = sorted(range(len(lengths)), key=lambda index: lengths[index])
    for index in shortest_first:
        padded_words = (len(batch) + 1) * lengths[index]  # this sentence is the longest of the batch
        if batch and (len(batch) == batch_size or padded_words > batch_size * WORDS_PER_SENTENCE):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def map_in_batches(
    compute: Callable[[list[Item]], Sequence[Result]],
    items: Sequence[Item],
    lengths: Sequence[int],
    batch_size: int,
) -> list[Result]:
    """Return the result of each item, in the order of the items. `compute` returns the results of a batch of items.

    Items of similar length share a batch; see `batches_by_length`.
    """
    results: dict[int, Result] = {}
    for indices in batches_by_length(lengths, batch_size):
        batch = [items[index] for index in indices]
        results.update(zip(indices, compute(batch), strict=True))
    return [results[index] for index in range(len(items))]
