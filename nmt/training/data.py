"""The input of a training run: both bitexts and their vocabularies, its fingerprint, and batches made ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nmt.data.batches import Batch
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import Vocabulary
from nmt.settings.base import Flat, flatten
from nmt.settings.training import ModelRun


def open_data(
    train: Path, dev: Path, source_vocabulary: Path, target_vocabulary: Path
) -> tuple[Bitext, Bitext, tuple[int, int]]:
    """Return training and development text, and the sizes of both vocabularies, source first.

    A UserError names a bitext that was altered, or was made with another vocabulary.
    """
    source, target = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
    bitexts = Bitext.open(train), Bitext.open(dev)
    for bitext in bitexts:
        bitext.check(source, target)
    return *bitexts, (len(source), len(target))


def fingerprint(run: ModelRun, train: Bitext, dev: Bitext) -> Flat:
    """Return everything that determines the weights, with flat dotted keys: no run resumes where any of it differs."""
    data = {
        "train": train.meta.sha256,
        "dev": dev.meta.sha256,
        "source_vocabulary": train.meta.source_vocabulary_sha256,
        "target_vocabulary": train.meta.target_vocabulary_sha256,
    }
    return flatten({"settings": run.fingerprint_fields(), "data": data})


def ahead(batches: Iterator[Batch], prepare: Callable[[Batch], Batch], depth: int = 16) -> Generator[Batch]:
    """Yield the same batches in the same order, with up to `depth` of them prepared in advance by a thread.

    So a GPU never waits for reading, sorting and padding.
    An error in the thread is raised in place of its batch. Closing the iterator ends the thread.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="batches")

    def make() -> Batch | None:
        batch = next(batches, None)
        return None if batch is None else prepare(batch)

    made = deque(pool.submit(make) for _ in range(depth))
    try:
        while (batch := made.popleft().result()) is not None:
            made.append(pool.submit(make))
            yield batch
    finally:
        pool.shutdown(cancel_futures=True)
