"""Points of BLEU curves: against length (Figure 2), unknown words (Cho et al., 2014b, Figure 4c), and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nmt.evaluation.bleu import BleuCounts, total
from nmt.settings.text import SentenceLength
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
    def of(cls, place: int, counts: Sequence[BleuCounts], bootstrap: Bootstrap) -> Point:
        """Make the point of some sentences."""
        if not counts:
            return cls(place, 0, None, None)
        union = total(counts)
        return cls(place, union.sentences, union.bleu, interval([counts], bootstrap))


@dataclass(frozen=True)
class Group:
    """Corpus BLEU of consecutive sentences in sorted order, and the keys of the first and the last one."""

    first: float
    last: float
    sentences: int
    bleu: float
    interval: tuple[float, float] | None


def groups(rows: Rows, keys: Sequence[float], count: int, bootstrap: Bootstrap = _NO_INTERVAL) -> list[Group]:
    """Sort the sentences by `keys` and cut them into groups of equal size (Sutskever et al., 2014, Figure 3).

    Sizes differ by at most one. Sentences with equal keys stay in the order of the text. Sentences without words are
    left out. If there are fewer sentences than groups, each sentence is a group.
    """
    order = sorted(
        (place for place, row in enumerate(rows) if row["source_length"]), key=lambda place: keys[place]
    )
    bounds = [round(part * len(order) / count) for part in range(count + 1)]
    found = []
    for start, stop in pairwise(dict.fromkeys(bounds)):
        places = order[start:stop]
        counts = [BleuCounts.from_dict(rows[place]) for place in places]
        bleu = total(counts).bleu
        found.append(
            Group(keys[places[0]], keys[places[-1]], len(places), bleu, interval([counts], bootstrap))
        )
    return found


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
    everything = [
        ([row[f"{side}_length"] for side in sides_of(length)], BleuCounts.from_dict(row)) for row in rows
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
    counts = [(row["source_unknown"], BleuCounts.from_dict(row)) for row in rows]
    if not counts:
        return []
    last = min(most, max(unknown for unknown, _ in counts))
    return [
        Point.of(allowed, [count for unknown, count in counts if unknown <= allowed], bootstrap)
        for allowed in range(last + 1)
    ]
