"""What loading a batch costs against the update that it is for: `make bench`.

Usage: python -m benchmarks.batches [--pairs N] [--rounds N] [--threads N]

A text of drawn ids is binarized and read as training reads it, at the paper's sizes. In each round a whole group of 20
minibatches is made (App. B.2) and one of them, that of the middle length, is trained on.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.findings import publish, whole_numbers
from benchmarks.training.project import RNNsearch
from benchmarks.training.sentences import SPECIALS, zipf
from benchmarks.training.sizes import Machine, Sizes
from nmt.data.batches import PairsWithinLimit, training_batches
from nmt.data.bitext import Bitext, binarize
from nmt.data.vocabulary import Vocabulary
from nmt.io.text_files import write_lines

OUTPUT = Path(__file__).parent / "results" / "batches.json"
LIMIT = 50
GROUP = 20


def main() -> None:
    """Measure, print and write `benchmarks/results/batches.json`."""
    arguments = parse()
    sizes = Sizes(length=LIMIT)
    contender = RNNsearch(sizes, Machine("cpu", arguments.threads))
    with tempfile.TemporaryDirectory() as folder:
        pairs = PairsWithinLimit(write(Path(folder), arguments.pairs, sizes.vocabulary), LIMIT)
        batches = training_batches(pairs, sizes.batch, GROUP, source_end=True, first_update=0)
        making, updating = [], []
        for _ in range(arguments.rounds + 1):
            begin = time.perf_counter()
            group = [next(batches) for _ in range(GROUP)]
            middle = time.perf_counter()
            contender.update(group[GROUP // 2])
            making.append((middle - begin) / GROUP)
            updating.append(time.perf_counter() - middle)
    found = {
        "threads": arguments.threads,
        "pairs": arguments.pairs,
        "rounds": arguments.rounds,
        "seconds_making_a_batch": statistics.median(making[1:]),
        "seconds_update": statistics.median(updating[1:]),
    }
    found["share_of_update"] = found["seconds_making_a_batch"] / found["seconds_update"]
    publish(found, OUTPUT)


def parse() -> argparse.Namespace:
    """Options."""
    return whole_numbers(__doc__, pairs=100_000, rounds=7, threads=2)


def write(folder: Path, pairs: int, ids: int) -> Bitext:
    """A binarized text of so many pairs: lengths as of news (a log-normal of about 25 words), words by Zipf's law."""
    generator = np.random.default_rng(1)
    vocabulary = Vocabulary([(str(word), ids - word) for word in range(ids - 2)])
    for side in ("source", "target"):
        with write_lines(folder / side) as writer:
            for words in sentences(generator, pairs, ids):
                writer.write(" ".join(map(str, words)))
    corpora = {"drawn": [(folder / "source", folder / "target")]}
    return binarize(corpora, vocabulary, vocabulary, folder / "bitext")


def sentences(generator: np.random.Generator, count: int, ids: int) -> Iterator[NDArray[np.int64]]:
    """Ranks of the words of so many sentences."""
    cumulative = zipf(ids - SPECIALS)
    lengths = np.clip(generator.lognormal(np.log(23), 0.55, count).astype(int), 1, 120)
    for length in lengths:
        yield np.searchsorted(cumulative, generator.random(length), side="right")


if __name__ == "__main__":
    main()
