"""BLEU of groups of sentences: by length (Figure 2), unknown words (Cho et al., 2014b, Figure 4c), and ranks."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nmt.evaluation.bleu import BleuCounts, sum_counts
from pipeline.config.text import SentenceLength
from pipeline.results.bootstrap import Bootstrap, interval

Rows = Sequence[Mapping[str, Any]]
"""The list `by_sentence` of a score."""

_NO_INTERVAL = Bootstrap(0, 0)


@dataclass(frozen=True)
class Point:
    """Corpus BLEU of the sentences that belong to one place on the axis; None if there are none.

    `interval` is the bootstrap 95% interval over these sentences.
    """

    place: int
    sentences: int
    bleu: float | None
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, place: int, rows: Rows, bootstrap: Bootstrap) -> Point:
        """Make the point of some sentences."""
        if not rows:
            return cls(place, 0, None, None)
        counts = [*map(BleuCounts.from_dict, rows)]
        return cls(place, len(rows), sum_counts(counts).bleu, interval([counts], bootstrap))


def groups(
    rows: Rows, keys: Sequence[float], count: int, bootstrap: Bootstrap = _NO_INTERVAL
) -> tuple[list[Point], list[float]]:
    """Sort the sentences by `keys` and cut them into groups of equal size (Sutskever et al., 2014, Figure 3).

    Sizes differ by at most one. Sentences with equal keys stay in the order of the text. Sentences without words are
    left out. If there are fewer sentences than groups, each sentence is a group.

    Returns:
        The groups; and the first key of the first one, then the last key of each.
    """
    filled = [place for place, row in enumerate(rows) if row["source_length"]]
    order = sorted(filled, key=lambda place: keys[place])
    bounds = dict.fromkeys(round(part * len(order) / count) for part in range(count + 1))
    parts = [order[start:stop] for start, stop in pairwise(bounds)]
    points = [Point.of(index, [rows[place] for place in part], bootstrap) for index, part in enumerate(parts)]
    return points, [keys[place] for place in [*order[:1], *(part[-1] for part in parts)]]


def by_length(
    rows: Rows,
    window: int,
    max_words: int,
    length: SentenceLength = "source",
    bootstrap: Bootstrap = _NO_INTERVAL,
) -> list[Point]:
    """Compute corpus BLEU of the sentences within a window around each length (Figure 2).

    The window of length x holds `window` lengths, from x - window // 2 on (Cho et al., 2014b, use 10). `length` chooses
    the length of source, reference or both; with `both`, both lengths must be within the window. Lengths run from the
    shortest to the longest sentence, at most to `max_words`. An empty window has no score.
    """
    filled = within(rows, 1, sys.maxsize, length)
    lengths = [row[f"{side}_length"] for row in filled for side in sides_of(length)]
    points = []
    for place in range(min(lengths, default=1), min(max(lengths, default=0), max_words) + 1):
        first = place - window // 2
        points.append(Point.of(place, within(filled, first, first + window - 1, length), bootstrap))
    return points


def within(rows: Rows, least: int, most: int, length: SentenceLength) -> Rows:
    """Return the sentences of so many words. For `length`, see `by_length`."""
    sides = sides_of(length)
    return [row for row in rows if all(least <= row[f"{side}_length"] <= most for side in sides)]


def sides_of(length: SentenceLength) -> tuple[str, ...]:
    """Return the sides whose lengths count."""
    return ("source", "reference") if length == "both" else (length,)


def by_unknown_words(rows: Rows, most: int, bootstrap: Bootstrap) -> list[Point]:
    """Compute corpus BLEU of the sentences whose source has at most n unknown words, for n from 0 to `most`.

    The points end at the first n that includes all sentences.
    """
    last = min(most, max((row["source_unknown"] for row in rows), default=-1))
    return [
        Point.of(allowed, [row for row in rows if row["source_unknown"] <= allowed], bootstrap)
        for allowed in range(last + 1)
    ]
