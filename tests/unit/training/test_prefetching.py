"""Batches that a thread prepares; pinning is replaced, since it needs a GPU."""

import threading
import time
from collections.abc import Iterator
from itertools import islice, repeat

import pytest

from nmt.data.batches import Batch
from nmt.training.prefetching import PREFETCHED_BATCHES, prefetch_batches
from tests.unit.model.test_encoder_decoder import PAIRS, batch_of

BATCH = batch_of(PAIRS)


@pytest.fixture(autouse=True)
def pinned(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """The batches that were pinned."""
    batches = []
    monkeypatch.setattr(Batch, "pin_memory", lambda batch: batches.append(batch) or batch)
    return batches


def count_threads() -> int:
    return sum(thread.name.startswith("batches") for thread in threading.enumerate())


def test_order_of_batches(pinned):
    batches = [batch_of(PAIRS) for _ in range(40)]
    prefetched_batches = prefetch_batches(iter(batches))
    assert list(islice(prefetched_batches, 40)) == batches == pinned
    prefetched_batches.close()
    assert count_threads() == 0


def test_number_of_prefetched_batches(pinned):
    batches = prefetch_batches(repeat(BATCH))
    next(batches)
    deadline = time.monotonic() + 60
    while len(pinned) < PREFETCHED_BATCHES and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)  # in which a thread without a limit would prepare many more
    # Further ones: the one that was taken, its successor, and one that the thread is working on.
    assert PREFETCHED_BATCHES <= len(pinned) <= PREFETCHED_BATCHES + 3
    assert count_threads() == 1
    batches.close()
    assert count_threads() == 0


def test_error_in_thread():
    def fail_after_two() -> Iterator[Batch]:
        yield from (BATCH, BATCH)
        raise OSError("the disk is gone")

    batches = prefetch_batches(fail_after_two())
    assert [next(batches), next(batches)] == [BATCH, BATCH]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)
    assert count_threads() == 0
