"""BLEU of groups of sentences, as points of curves: against length (Figure 2) and unknown words (2014b, 4c)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from nmt.config.schema import SentenceLength
from nmt.evaluation.bleu import BleuCounts

Rows = Sequence[Mapping[str, Any]]
"""A score's `by_sentence`."""


@dataclass(frozen=True)
class Bootstrap:
    """How often sentences are drawn anew, and the seed of it; no samples, no interval."""

    samples: int
    seed: int


@dataclass(frozen=True)
class Point:
    """Corpus BLEU of the sentences that belong to one place on the axis; None where there are none.

    `interval` is the middle 95% of the BLEU of as many sentences drawn from them with replacement.
    """

    place: int
    sentences: int
    bleu: float | None
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, place: int, counts: Sequence[BleuCounts], bootstrap: Bootstrap) -> Point:
        """The point of some sentences."""
        if not counts:
            return cls(place, 0, None, None)
        union = reduce(BleuCounts.__add__, counts)
        return cls(place, union.sentences, union.bleu, interval(counts, bootstrap))


def interval(counts: Sequence[BleuCounts], bootstrap: Bootstrap) -> tuple[float, float] | None:
    """The 2.5th and 97.5th percentile of corpus BLEU over bootstrap samples of sentences (Koehn, 2004)."""
    if not bootstrap.samples:
        return None
    generator = np.random.Generator(np.random.PCG64(bootstrap.seed))
    size = len(counts)
    return percentiles(counts, generator.multinomial(size, np.full(size, 1 / size), size=bootstrap.samples))


def percentiles(counts: Sequence[BleuCounts], drawn: NDArray[np.int64]) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of corpus BLEU over samples.

    `drawn`: how often each sample holds each sentence, (samples, sentences).
    """
    rows = np.array([count.row for count in counts], dtype=np.int64)
    scores = [_bleu(sums) for sums in (drawn @ rows).tolist()]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


def _bleu(sums: list[int]) -> float:
    found = BLEU.compute_bleu(sums[:4], sums[4:8], sums[8], sums[9], smooth_method="none")
    return float(found.score)


def by_length(
    rows: Rows,
    window: int,
    max_words: int,
    length: SentenceLength = "source",
    bootstrap: Bootstrap = Bootstrap(0, 0),
) -> list[Point]:
    """Figure 2: corpus BLEU of the sentences within a window around each length.

    The window of length x holds the `window` lengths from x - window // 2 on (Cho et al., 2014b, smooth with
    10). `length` says whose: with `both`, a sentence counts where its source and its reference lie within.
    Lengths run from the shortest to the longest sentence, at most to `max_words`; an empty window has no score.
    """
    sides = ("source", "reference") if length == "both" else (length,)
    everything = [
        ([row[f"{side}_length"] for side in sides], BleuCounts.from_dict(dict(row))) for row in rows
    ]
    counts = [(lengths, count) for lengths, count in everything if min(lengths) > 0]
    if not counts:
        return []
    shortest, longest = min(min(lengths) for lengths, _ in counts), max(max(lengths) for lengths, _ in counts)
    return [
        Point.of(center, _inside(counts, center, window), bootstrap)
        for center in range(shortest, min(longest, max_words) + 1)
    ]


def _inside(counts: Iterable[tuple[list[int], BleuCounts]], center: int, window: int) -> list[BleuCounts]:
    first = center - window // 2
    return [count for lengths, count in counts if first <= min(lengths) and max(lengths) < first + window]


def by_unknown_words(rows: Rows, most: int, bootstrap: Bootstrap) -> list[Point]:
    """Corpus BLEU of the sentences whose source has at most so many unknown words, from 0 to `most`.

    Ends where all sentences are in.
    """
    counts = [(row["source_unknown"], BleuCounts.from_dict(dict(row))) for row in rows]
    if not counts:
        return []
    last = min(most, max(unknown for unknown, _ in counts))
    return [
        Point.of(allowed, [count for unknown, count in counts if unknown <= allowed], bootstrap)
        for allowed in range(last + 1)
    ]
