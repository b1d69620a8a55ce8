"""Batches that are prepared in advance."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

from nmt.data.batches import Batch

PREFETCHED_BATCHES = 16
"""Number of batches that are prepared in advance."""


def prefetch_batches(batches: Iterator[Batch]) -> Generator[Batch]:
    """Yield the batches of an endless iterator in pinned memory, prepared in advance by a thread.

    If a batch cannot be prepared, the error is raised in its place. Closing the generator ends the thread.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="batches")

    def prepare_next() -> Batch:
        return next(batches).pin_memory()

    # The pool has one thread, which prepares the batches in order.
    pending_batches = deque(pool.submit(prepare_next) for _ in range(PREFETCHED_BATCHES))
    try:
        while True:
            batch = pending_batches.popleft().result()
            pending_batches.append(pool.submit(prepare_next))
            yield batch
    finally:
        pool.shutdown(cancel_futures=True)
