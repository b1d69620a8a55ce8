"""The input of a training run: both bitexts and their vocabularies, its fingerprint, and batches made ahead."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.data.batches import Batch
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.settings.base import Flat, flatten
from nmt.settings.training import ModelRun


@dataclass(frozen=True)
class TrainingData:
    """Training and development text, and both vocabularies' sizes (source first)."""

    train: Bitext
    dev: Bitext
    sizes: tuple[int, int]

    @classmethod
    def open(cls, train: Path, dev: Path, source_vocabulary: Path, target_vocabulary: Path) -> TrainingData:
        """Open all files. A UserError names a bitext that is empty, altered or was made with another vocabulary."""
        source, target = Vocabulary.read(source_vocabulary), Vocabulary.read(target_vocabulary)
        bitexts = Bitext.open(train), Bitext.open(dev)
        for bitext in bitexts:
            bitext.refuse_altered()
            check(bitext, "source", source, source_vocabulary)
            check(bitext, "target", target, target_vocabulary)
            if not len(bitext):
                raise UserError(
                    f"{bitext.folder}: holds no sentence pair; check the corpora it was made from"
                )
        return cls(*bitexts, (len(source), len(target)))


def check(bitext: Bitext, side: str, vocabulary: Vocabulary, path: Path) -> None:
    """Raise a UserError for a bitext that was made with other vocabularies."""
    made_with: str = getattr(bitext.meta, f"{side}_vocabulary_sha256")
    if made_with != vocabulary.sha256:
        raise UserError(
            f"{bitext.folder}: its {side} ids were made with another vocabulary (sha256 {made_with[:12]}...) "
            f"than {path} ({vocabulary.sha256[:12]}...); binarize the text again"
        )


Fingerprint = Flat


def fingerprint(run: ModelRun, train: Bitext, dev: Bitext) -> Fingerprint:
    """Return everything that determines the weights, with flat dotted keys: no run resumes where any of it differs."""
    data = {
        "train": train.meta.sha256,
        "dev": dev.meta.sha256,
        "source_vocabulary": train.meta.source_vocabulary_sha256,
        "target_vocabulary": train.meta.target_vocabulary_sha256,
    }
    return flatten({"settings": run.fingerprint_fields(), "data": data})


AHEAD = 16


def ahead(
    batches: Iterator[Batch], prepare: Callable[[Batch], Batch], depth: int = AHEAD
) -> Generator[Batch]:
    """Yield the same batches in the same order, with up to `depth` of them prepared in advance by a thread.

    So a GPU never waits for reading, sorting and padding.
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
