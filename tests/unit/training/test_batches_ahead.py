"""Batches made ahead in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from nmt.data.batches import Batch
from nmt.training.update import PREFETCHED_BATCHES, prefetch_batches
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of


def numbered(count: int, made: list[int]) -> Iterator[Batch]:
    for number in range(count):
        made.append(number)
        yield replace(batch_of(PAIRS), source_lengths=torch.tensor(number))


def worker_threads() -> int:
    return sum(thread.name.startswith("batches") for thread in threading.enumerate())


def test_the_same_batches_come_in_the_same_order_prepared() -> None:
    found = prefetch_batches(numbered(40, []), lambda batch: replace(batch, target_lengths=torch.tensor(7)))
    assert [[int(lengths) for lengths in batch.tensors()[2:]] for batch in found] == [
        [n, 7] for n in range(40)
    ]
    assert worker_threads() == 0


def test_no_more_than_the_depth_is_made_in_advance() -> None:
    made: list[int] = []
    found = prefetch_batches(numbered(1000, made), lambda batch: batch)
    next(found)
    deadline = time.monotonic() + 60
    while len(made) < PREFETCHED_BATCHES and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)  # in which a thread without a limit would make many more
    assert (
        PREFETCHED_BATCHES <= len(made) <= PREFETCHED_BATCHES + 3
    )  # taken, queued, and one in the hand of the thread
    assert worker_threads() == 1
    found.close()
    assert worker_threads() == 0


def test_an_error_comes_where_its_batch_would_have_come() -> None:
    def broken() -> Iterator[Batch]:
        yield from numbered(2, [])
        raise OSError("the disk is gone")

    found = prefetch_batches(broken(), lambda batch: batch)
    assert [int(next(found).source_lengths), int(next(found).source_lengths)] == [0, 1]
    with pytest.raises(OSError, match="the disk is gone"):
        next(found)
    assert worker_threads() == 0
