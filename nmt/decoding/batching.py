"""Sentences of similar length are computed together, in batches of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from nmt.data.batches import Batch, pad_pairs
from nmt.store.trained_model import TrainedModel

Words = Sequence[str]
Item = TypeVar("Item")
Result = TypeVar("Result")

WORDS_PER_SENTENCE = 50
"""Words per sentence of a full batch, padding included. Longer lines come in smaller batches."""


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
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
    """Return the results of `compute`, which takes one of the `batches` of the items, in the order of the items."""
    results: dict[int, Result] = {}
    for batch in batches(lengths, size):
        results |= zip(batch, compute([items[place] for place in batch]), strict=True)
    return [results[place] for place in range(len(items))]


def make_batch(model: TrainedModel, sources: Sequence[Words], targets: Sequence[Words]) -> Batch:
    """Turn tokens into a padded batch of ids on the model's device."""
    return pad_pairs(
        [np.array(model.source.ids(tokens), dtype=np.uint32) for tokens in sources],
        [np.array(model.target.ids(tokens), dtype=np.uint32) for tokens in targets],
        model.run.architecture.source_end,
    ).to(model.device)
