"""Prepares batches ahead in a separate thread, so that a GPU never waits for reading, sorting and padding."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator

from nmt.data.batches import Batch

AHEAD = 16


def ahead(
    batches: Iterator[Batch], prepare: Callable[[Batch], Batch], depth: int = AHEAD
) -> Generator[Batch]:
    """Yield the same batches in the same order, with up to `depth` of them prepared in advance.

    An error in the thread is raised in place of its batch. Closing the iterator ends the thread.
    """
    made: queue.Queue[Batch | BaseException | None] = queue.Queue(depth)
    ended = threading.Event()

    def hand_over(item: Batch | BaseException | None) -> None:
        while not ended.is_set():
            try:
                return made.put(item, timeout=0.1)
            except queue.Full:
                continue

    def work() -> None:
        try:
            for batch in batches:
                hand_over(prepare(batch))
                if ended.is_set():
                    return
            hand_over(None)
        except BaseException as error:  # raised again where the batch is waited for
            hand_over(error)

    thread = threading.Thread(target=work, name="batches", daemon=True)
    thread.start()
    try:
        while (item := made.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        ended.set()
        thread.join()
