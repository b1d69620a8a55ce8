"""Minibatches as in App. B.2: fetch 20 x 80 pairs in order, sort them by length, split them into 20.

Binarization shuffles the data once. Here pairs are read in that order, or in an order drawn by a seed, and from the
start again at the end. Pairs with a side longer than the model's limit are skipped. The number of an update alone
determines its pairs, so a resumed run only needs its number of updates.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
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
    """B pairs, padded. S and T count the end symbol.

    source (S, B), source_mask (S, B) of 0 and 1, target (T, B). positions (P,): indices into the flattened target that
    are not padding. sentence (P,): the pair of each position. words: numbers of source and target words without end
    symbols. loss_mask: None, or (P,) of 0 and 1, with 0 for positions that are padding.
    """

    source: Tensor
    source_mask: Tensor
    target: Tensor
    positions: Tensor
    sentence: Tensor
    source_words: int
    target_words: int
    loss_mask: Tensor | None = None

    def __len__(self) -> int:
        return self.source.shape[1]

    def to(self, device: torch.device) -> Batch:
        """Return the batch on another device. The copy from pinned memory is asynchronous."""
        return self._each(lambda part: part.to(device, non_blocking=True))

    def pinned(self) -> Batch:
        """Return the batch in pinned memory, from which a GPU can copy asynchronously."""
        return self._each(lambda part: part.pin_memory())

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        parts = {name: change(value) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return Batch(**(vars(self) | parts))

    def inputs(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]:
        """Return the arguments of `EncoderDecoder.total_nll`."""
        return self.source, self.source_mask, self.target, self.positions, self.loss_mask

    def in_bucket(self, multiple: int) -> Batch:
        """Return the batch with more padding, so that batches have few shapes: S = T, a multiple plus the end symbol.

        Positions are all of T x B. Padding counts 0, so cost and gradients change only in their last digits.
        """
        words = max(len(self.source), len(self.target)) - 1
        length = -(-words // multiple) * multiple + 1
        sentences = torch.arange(length * len(self)) % len(self)
        loss_mask = torch.zeros(length * len(self)).index_fill_(0, self.positions, 1.0)
        return replace(
            self,
            source=lengthened(self.source, length, END),
            source_mask=lengthened(self.source_mask, length, 0),
            target=lengthened(self.target, length, END),
            positions=torch.arange(length * len(self)),
            sentence=sentences,
            loss_mask=loss_mask,
        )


def lengthened(values: Tensor, length: int, filling: float) -> Tensor:
    """Pad (S, B) to (length, B)."""
    return torch.nn.functional.pad(values, (0, 0, 0, length - len(values)), value=filling)


class PairsWithinLimit:
    """The pairs of a bitext with at most `limit` words on both sides, in order.

    With a seed, number r of n pairs is the pair of rank (a r + b) modulo n, with a and n coprime: another order of the
    shuffled pairs.

    Attributes:
        rows: indices in the bitext, (n,), 8 bytes each.
        longest: words of the longest side among the pairs.

    Raises:
        UserError: no pair is short enough.
    """

    def __init__(self, bitext: Bitext, limit: int, seed: int | None = None) -> None:
        longer = bitext.longer_lengths()
        self.bitext, self.rows = bitext, np.flatnonzero(longer <= limit)
        if not len(self):
            raise UserError(
                f"{bitext.folder}: none of its {len(bitext)} pairs has at most {limit} words on both sides; "
                f"raise the model's max_words or use other text"
            )
        self.longest = int(longer[self.rows].max())
        self._step, self._first = 1, 0
        if seed is not None:
            generator = np.random.Generator(np.random.PCG64(seed))
            self._first, self._step = int(generator.integers(len(self))), 0
            while gcd(self._step, len(self)) != 1:
                self._step = int(generator.integers(1, len(self) + 1))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, first: int, count: int) -> Indices:
        """Return the indices of `count` pairs from number `first` on. After the last pair comes the first again."""
        numbers = (first + np.arange(count)) % len(self)
        return self.rows[(self._step * numbers + self._first) % len(self)]


def training_batches(
    pairs: PairsWithinLimit, batch_size: int, batches_per_sort: int, source_end: bool, first_update: int
) -> Generator[Batch]:
    """Yield endless minibatches from update number `first_update` (from 0) on (App. B.2).

    The pairs of a group are sorted by the longer of both sides, and equal lengths keep their order. The shortest batch
    comes first.
    """
    bitext = pairs.bitext
    group_size = batch_size * batches_per_sort
    group, skip = divmod(first_update, batches_per_sort)
    while True:
        rows = sort_by_length(bitext, pairs.take(group * group_size, group_size))
        for start in range(skip * batch_size, group_size, batch_size):
            yield make_batch(bitext, rows[start : start + batch_size], source_end)
        group, skip = group + 1, 0


def sort_by_length(bitext: Bitext, rows: Indices) -> Indices:
    """Sort rows by the longer of both sides, shortest first."""
    longer = [max(len(bitext.source(row)), len(bitext.target(row))) for row in rows]
    return rows[np.argsort(longer, kind="stable")]


def evaluation_batches(bitext: Bitext, rows: Indices, batch_size: int, source_end: bool) -> Iterator[Batch]:
    """Yield batches of the pairs at `rows`, each pair once, with pairs of similar length together."""
    rows = sort_by_length(bitext, rows)
    for start in range(0, len(rows), batch_size):
        yield make_batch(bitext, rows[start : start + batch_size], source_end)


def make_batch(bitext: Bitext, rows: Indices, source_end: bool) -> Batch:
    """Pad the pairs at `rows`. The target always ends with the end symbol; the source does if the model reads it."""
    return pad_pairs([bitext.source(row) for row in rows], [bitext.target(row) for row in rows], source_end)


def pad_pairs(sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]], source_end: bool) -> Batch:
    """Make a batch from pairs of ids without end symbols.

    A source without words is read as a single end symbol, even by a model without end symbols in its sources, since
    encoder and attention need at least one position.
    """
    source, source_mask = pad(sources, source_end, least=1)
    target, target_mask = pad(targets, True)
    positions = np.flatnonzero(target_mask)
    return Batch(
        torch.from_numpy(source),
        torch.from_numpy(source_mask.astype(np.float32)),
        torch.from_numpy(target),
        torch.from_numpy(positions),
        torch.from_numpy(positions % len(targets)),
        sum(map(len, sources)),
        sum(map(len, targets)),
    )


def pad(sentences: Sequence[NDArray[Any]], end: bool, least: int = 0) -> tuple[Indices, NDArray[np.bool_]]:
    """Return ids (steps, sentences) as int64, padded with the end symbol, and a mask of the positions without padding.

    End symbols that fill a sentence up to `least` steps are not padding.
    """
    lengths = np.array([max(least, len(ids) + end) for ids in sentences])
    padded = np.full((int(lengths.max()), len(sentences)), END, dtype=np.int64)
    for column, ids in enumerate(sentences):
        padded[: len(ids), column] = ids
    return padded, np.arange(len(padded))[:, None] < lengths


# --- sentences that are translated or scored --------------------------------------------------------------------------

WORDS_PER_SENTENCE = 50
"""Words per sentence of a full batch, padding included. Longer lines come in smaller batches."""


def batches_by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the indices of sentences of similar length: at most `size`, with at most 50 `size` words with padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        full = len(batch) == size or (len(batch) + 1) * lengths[place] > size * WORDS_PER_SENTENCE
        if batch and full:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def in_batches(
    compute: Callable[[list[Item]], Sequence[Result]],
    items: Sequence[Item],
    lengths: Sequence[int],
    size: int,
) -> list[Result]:
    """Return the results of `compute`, which takes one of the `batches_by_length`, in the order of the items."""
    results: dict[int, Result] = {}
    for batch in batches_by_length(lengths, size):
        results |= zip(batch, compute([items[place] for place in batch]), strict=True)
    return [results[place] for place in range(len(items))]
