"""Minibatches as in App. B.2: fetch 20 x 80 pairs in order, sort them by length, split them into 20.

Binarization shuffles the data once. Here pairs are read in that order, or in an order drawn by a seed, and from the
start again at the end. Pairs with a side longer than the model's limit are skipped. The number of an update alone
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
    """B pairs of ids, source (S, B) and target (T, B), each sentence with padding behind it.

    The lengths, (B,), count words and the end symbol. `word_mask` says which positions they cover; all others are
    padding and count nowhere.
    """

    source: Tensor
    target: Tensor
    source_lengths: Tensor
    target_lengths: Tensor

    def __len__(self) -> int:
        return self.source.shape[1]

    @property
    def positions(self) -> Tensor:
        """Indices into the flattened target, T * B, that are no padding, in order: (P,). Waits for a GPU."""
        return word_mask(self.target_lengths, len(self.target)).flatten().nonzero().squeeze(1)

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the four tensors, always in the same order."""
        return tuple(vars(self).values())

    def to(self, device: torch.device) -> Batch:
        """Return the batch on another device. The copy from pinned memory is asynchronous."""
        return Batch(*(part.to(device, non_blocking=True) for part in self.tensors()))

    def pin_memory(self) -> Batch:
        """Return the batch in pinned memory, from which a GPU can copy asynchronously."""
        return Batch(*(part.pin_memory() for part in self.tensors()))


def word_mask(lengths: Tensor, steps: int) -> Tensor:
    """Return the mask of padded sentences: True at words and end symbols, False at padding, (steps, B)."""
    return torch.arange(steps, device=lengths.device).unsqueeze(1) < lengths


class PairsWithinLimit:
    """The pairs of a bitext with at most `limit` words on both sides, in order.

    With a seed, number r of n pairs is the pair of rank (a r + b) modulo n, with a and n coprime: another order of the
    shuffled pairs.

    Attributes:
        rows: indices in the bitext, (n,), 8 bytes each.
        max_length: words of the longest side among the pairs.

    Raises:
        UserError: no pair is short enough.
    """

    def __init__(self, bitext: Bitext, limit: int, seed: int | None = None) -> None:
        longer = bitext.longer_lengths(np.arange(len(bitext)))
        self.bitext, self.rows = bitext, np.flatnonzero(longer <= limit)
        if not len(self):
            raise UserError(
                f"{bitext.folder}: none of its {len(bitext)} pairs has at most {limit} words on both sides; "
                f"raise the model's max_words or use other text"
            )
        self.max_length = int(longer[self.rows].max())
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
    pairs: PairsWithinLimit,
    batch_size: int,
    batches_per_sort: int,
    source_eos: bool,
    first_update: int,
    bucket: int | None = None,
) -> Generator[Batch]:
    """Yield endless minibatches from update number `first_update` (from 0) on (App. B.2).

    The pairs of a group are sorted by the longer of both sides, and equal lengths keep their order. The shortest batch
    comes first. For `bucket` see `pad_pairs`.
    """
    bitext = pairs.bitext
    group_size = batch_size * batches_per_sort
    group, skip = divmod(first_update, batches_per_sort)
    while True:
        rows = sort_by_length(bitext, pairs.take(group * group_size, group_size))
        for start in range(skip * batch_size, group_size, batch_size):
            yield make_batch(bitext, rows[start : start + batch_size], source_eos, bucket)
        group, skip = group + 1, 0


def sort_by_length(bitext: Bitext, rows: Indices) -> Indices:
    """Sort rows by the longer of both sides, shortest first."""
    return rows[np.argsort(bitext.longer_lengths(rows), kind="stable")]


def evaluation_batches(bitext: Bitext, rows: Indices, batch_size: int, source_eos: bool) -> Iterator[Batch]:
    """Yield batches of the pairs at `rows`, each pair once, with pairs of similar length together."""
    rows = sort_by_length(bitext, rows)
    for start in range(0, len(rows), batch_size):
        yield make_batch(bitext, rows[start : start + batch_size], source_eos)


def make_batch(bitext: Bitext, rows: Indices, source_eos: bool, bucket: int | None = None) -> Batch:
    """Pad the pairs at `rows`; see `pad_pairs`."""
    sources, targets = [bitext.source(row) for row in rows], [bitext.target(row) for row in rows]
    return pad_pairs(sources, targets, source_eos, bucket)


def pad_pairs(
    sources: Sequence[NDArray[Any]],
    targets: Sequence[NDArray[Any]],
    source_eos: bool,
    bucket: int | None = None,
) -> Batch:
    """Make a batch from pairs of ids without end symbols.

    The target always ends with the end symbol; the source does if the model reads it (`source_eos`). A source without
    words is read as a single end symbol in any case, since encoder and attention need at least one position.

    Both sides are as long as their longest sentence. With a `bucket`, they are equally long, a multiple of so many
    words and the end symbol, so that batches have few shapes.
    """
    source_lengths = np.array([max(1, len(ids) + source_eos) for ids in sources])
    target_lengths = np.array([len(ids) + 1 for ids in targets])
    source_steps, target_steps = int(source_lengths.max()), int(target_lengths.max())
    if bucket is not None:
        words = max(source_steps, target_steps) - 1
        source_steps = target_steps = -(-words // bucket) * bucket + 1
    return Batch(
        source=torch.from_numpy(pad(sources, source_steps)),
        target=torch.from_numpy(pad(targets, target_steps)),
        source_lengths=torch.from_numpy(source_lengths),
        target_lengths=torch.from_numpy(target_lengths),
    )


def pad(sentences: Sequence[NDArray[Any]], steps: int) -> Indices:
    """Return ids (steps, sentences) as int64. End symbols stand behind each sentence, also as padding."""
    padded = np.full((steps, len(sentences)), END, dtype=np.int64)
    for column, ids in enumerate(sentences):
        padded[: len(ids), column] = ids
    return padded


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


def map_in_batches(
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
