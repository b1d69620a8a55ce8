"""Batches prepared by a thread; numbers stand for batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count

import pytest

from nmt.training.prefetching import PREFETCHED_BATCHES, prefetch_batches


def count_threads() -> int:
    return sum(thread.name.startswith("batches") for thread in threading.enumerate())


def test_order_of_batches() -> None:
    assert list(prefetch_batches(iter(range(40)), lambda batch: -batch)) == [-i for i in range(40)]
    assert count_threads() == 0


def test_number_of_prefetched_batches() -> None:
    prepared = list[int]()
    batches = prefetch_batches(count(), lambda batch: prepared.append(batch) or batch)
    next(batches)
    deadline = time.monotonic() + 60
    while len(prepared) < PREFETCHED_BATCHES and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)  # in which a thread without a limit would prepare many more
    # Further ones: the one that was taken, its successor, and one that the thread is working on.
    assert PREFETCHED_BATCHES <= len(prepared) <= PREFETCHED_BATCHES + 3
    assert count_threads() == 1
    batches.close()
    assert count_threads() == 0


def test_error_in_thread() -> None:
    def fail_after_two() -> Iterator[int]:
        yield from (0, 1)
        raise OSError("the disk is gone")

    batches = prefetch_batches(fail_after_two(), lambda batch: batch)
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)
    assert count_threads() == 0
