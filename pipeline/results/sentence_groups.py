"""BLEU of groups of sentences: by length (Figure 2), unknown words (Cho et al., 2014b, Figure 4c), and ranks."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nmt.evaluation.bleu import BleuCounts, corpus_bleu
from pipeline.config.text import SentenceLength
from pipeline.results.bootstrap import Bootstrap, SampledBleu

Rows = Sequence[Mapping[str, Any]]
"""The list `by_sentence` of a score: a sentence's counts for BLEU, its lengths and its unknown words."""

MIN_SENTENCES = 10
"""A point of a curve needs so many sentences: BLEU of fewer says little."""
_NO_INTERVAL = Bootstrap(0, 0)


@dataclass(frozen=True)
class BleuPoint:
    """Corpus BLEU of the sentences at one position of an axis; None if there are too few."""

    x: float
    sentences: int
    """Their number."""
    bleu: float | None
    interval: tuple[float, float] | None
    """95% bootstrap interval over these sentences."""

    @classmethod
    def from_rows(cls, x: float, rows: Rows, bootstrap: Bootstrap) -> BleuPoint:
        """Compute the BLEU of some sentences."""
        if len(rows) < MIN_SENTENCES:
            return cls(x, len(rows), None, None)
        counts = [BleuCounts.from_dict(row) for row in rows]
        interval = SampledBleu([counts], bootstrap).compute_interval()
        return cls(x, len(rows), corpus_bleu(counts), interval)


def bleu_by_rank(
    rows: Rows, keys: Sequence[float], count: int, bootstrap: Bootstrap
) -> tuple[list[BleuPoint], list[float]]:
    """Sort the sentences by `keys`, and compute BLEU of `count` equal groups (Sutskever et al., 2014, Figure 3).

    Group sizes differ by at most one. Sentences with equal keys stay in the order of the text. Sentences without words
    are left out. If there are fewer sentences than groups, each sentence is a group.

    Returns:
        The points of the groups, whose x is the middle of the group in units of groups; and the groups' boundaries: the
        smallest key of all, then the largest of each group.
    """
    # 1. the sentences in the order of their keys
    filled_lines = [line for line, row in enumerate(rows) if row["source_length"]]
    filled_lines.sort(key=keys.__getitem__)

    # 2. a point for each group
    boundaries = [keys[line] for line in filled_lines[:1]]
    points: list[BleuPoint] = []
    start = 0
    for group in range(1, count + 1):
        stop = round(group * len(filled_lines) / count)  # 10 sentences in 4 groups: 2, 5, 8, 10
        group_lines = filled_lines[start:stop]
        if group_lines:
            group_rows = [rows[line] for line in group_lines]
            points.append(BleuPoint.from_rows(len(points) + 0.5, group_rows, bootstrap))
            boundaries.append(keys[group_lines[-1]])
        start = stop
    return points, boundaries


def bleu_by_length(
    rows: Rows,
    window: int,
    max_words: int,
    length: SentenceLength = "source",
    bootstrap: Bootstrap = _NO_INTERVAL,
) -> list[BleuPoint]:
    """Compute BLEU of the sentences within a window around each length (Figure 2).

    Args:
        rows: the sentences; those without words are left out.
        window: how many lengths a point covers, from x - window // 2 on (10 in Cho et al., 2014b).
        max_words: the largest x. The points go from the shortest to the longest sentence; some may have no sentences.
        length: whose words are counted. With "both", source and reference must be within the window.
        bootstrap: number of samples, and seed, of the intervals.
    """
    # 1. the lengths that occur
    filled_rows = select_by_length(rows, 1, sys.maxsize, length)
    lengths = []
    for side in counted_sides(length):
        lengths += [row[f"{side}_length"] for row in filled_rows]

    # 2. a point for each length from the shortest to the longest
    points = []
    for x in range(min(lengths, default=1), min(max(lengths, default=0), max_words) + 1):
        min_length = x - window // 2
        window_rows = select_by_length(filled_rows, min_length, min_length + window - 1, length)
        points.append(BleuPoint.from_rows(x, window_rows, bootstrap))
    return points


def select_by_length(rows: Rows, min_words: int, max_words: int, length: SentenceLength) -> Rows:
    """Return the sentences with `min_words` to `max_words` words on the counted side, or on both."""
    for side in counted_sides(length):
        rows = [row for row in rows if min_words <= row[f"{side}_length"] <= max_words]
    return rows


def counted_sides(length: SentenceLength) -> tuple[str, ...]:
    """Return the sides whose words are counted."""
    return ("source", "reference") if length == "both" else (length,)


def count_words(row: Mapping[str, Any], length: SentenceLength) -> int:
    """Return a sentence's length; if both sides count, that of the longer one."""
    return max(int(row[f"{side}_length"]) for side in counted_sides(length))


def bleu_by_unknown_words(
    rows: Rows, unknown_counts: Sequence[int], max_unknown: int, bootstrap: Bootstrap
) -> list[BleuPoint]:
    """Compute BLEU of the sentences with at most x unknown source words, for x from 0 to `max_unknown`.

    The points end at the first x that covers all sentences.
    """
    points = []
    for x in range(min(max_unknown, max(unknown_counts)) + 1):
        selected_rows = [row for row, count in zip(rows, unknown_counts, strict=True) if count <= x]
        points.append(BleuPoint.from_rows(x, selected_rows, bootstrap))
    return points
