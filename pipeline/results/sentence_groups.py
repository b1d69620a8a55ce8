"""BLEU of groups of sentences: by length (Figure 2), unknown words (Cho et al., 2014b, Figure 4c), and ranks."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from nmt.evaluation.bleu import BleuCounts, corpus_bleu
from pipeline.config.text import SentenceLength
from pipeline.results.bootstrap import Bootstrap, SampledBleu

ScoredSentences = Sequence[Mapping[str, Any]]
"""The list `by_sentence` of a system's scores. A sentence has n-gram counts, lengths and a number of unknown words."""

MIN_SENTENCES = 10
"""Minimum sentences of a point of a curve, since BLEU of fewer says little."""
_NO_INTERVAL = Bootstrap(0, 0)


@dataclass(frozen=True)
class BleuPoint:
    """Corpus BLEU of the sentences at one position of an axis; None if there are too few."""

    x: float
    sentence_count: int
    bleu: float | None
    interval: tuple[float, float] | None
    """95% bootstrap interval over these sentences."""

    @classmethod
    def from_sentences(cls, x: float, sentences: ScoredSentences, bootstrap: Bootstrap) -> Self:
        """Compute the BLEU of some sentences."""
        if len(sentences) < MIN_SENTENCES:
            return cls(x, len(sentences), None, None)
        counts = [BleuCounts.from_dict(sentence) for sentence in sentences]
        interval = SampledBleu([counts], bootstrap).compute_interval()
        return cls(x, len(sentences), corpus_bleu(counts), interval)


def bleu_by_rank(
    sentences: ScoredSentences, keys: Sequence[float], group_count: int, bootstrap: Bootstrap
) -> tuple[list[BleuPoint], list[float]]:
    """Sort the sentences by `keys`, and compute BLEU of `group_count` equal groups (Sutskever et al., 2014, Figure 3).

    Group sizes differ by at most one. Sentences with equal keys stay in the order of the text. Sentences without words
    are left out. If there are fewer sentences than groups, each sentence is a group.

    Returns:
        The points of the groups, whose x is the middle of the group in units of groups; and the groups' boundaries: the
        smallest key of all, then the largest of each group.
    """
    # 1. the sentences in the order of their keys
    filled_lines = [line for line, sentence in enumerate(sentences) if sentence["source_length"]]
    filled_lines.sort(key=lambda line: keys[line])

    # 2. a point for each group
    boundaries = [keys[line] for line in filled_lines[:1]]
    points: list[BleuPoint] = []
    start = 0
    for group_number in range(1, group_count + 1):
        stop = round(group_number * len(filled_lines) / group_count)  # 10 sentences in 4 groups: 2, 5, 8, 10
        group_lines = filled_lines[start:stop]
        if group_lines:
            group = [sentences[line] for line in group_lines]
            points.append(BleuPoint.from_sentences(len(points) + 0.5, group, bootstrap))
            boundaries.append(keys[group_lines[-1]])
        start = stop
    return points, boundaries


def bleu_by_length(
    sentences: ScoredSentences,
    window: int,
    max_words: int,
    length: SentenceLength = "source",
    bootstrap: Bootstrap = _NO_INTERVAL,
) -> list[BleuPoint]:
    """Compute BLEU of the sentences within a window around each length (Figure 2).

    Args:
        sentences: the scored sentences. Sentences without words are left out.
        window: how many lengths a point covers, from x - window // 2 on (10 in Cho et al., 2014b).
        max_words: the largest x. The points go from the shortest to the longest sentence; some may have no sentences.
        length: the side whose words are counted. With "both", source and reference must be within the window.
        bootstrap: number of samples, and seed, of the intervals.
    """
    # 1. the lengths that occur
    filled_sentences = select_by_length(sentences, 1, sys.maxsize, length)
    lengths = []
    for side in counted_sides(length):
        lengths += [sentence[f"{side}_length"] for sentence in filled_sentences]

    # 2. a point for each length from the shortest to the longest
    points = []
    max_x = min(max(lengths, default=0), max_words)
    for x in range(min(lengths, default=1), max_x + 1):
        min_length = x - window // 2
        max_length = min_length + window - 1
        window_sentences = select_by_length(filled_sentences, min_length, max_length, length)
        points.append(BleuPoint.from_sentences(x, window_sentences, bootstrap))
    return points


def select_by_length(
    sentences: ScoredSentences, min_words: int, max_words: int, length: SentenceLength
) -> ScoredSentences:
    """Return the sentences with `min_words` to `max_words` words on the counted side, or on both."""
    for side in counted_sides(length):
        sentences = [
            sentence for sentence in sentences if min_words <= sentence[f"{side}_length"] <= max_words
        ]
    return sentences


def counted_sides(length: SentenceLength) -> tuple[str, ...]:
    """Return the sides whose words are counted."""
    return ("source", "reference") if length == "both" else (length,)


def count_words(sentence: Mapping[str, Any], length: SentenceLength) -> int:
    """Return a sentence's length; if both sides count, that of the longer one."""
    return max(int(sentence[f"{side}_length"]) for side in counted_sides(length))


def bleu_by_unknown_words(
    sentences: ScoredSentences, unknown_counts: Sequence[int], max_unknown: int, bootstrap: Bootstrap
) -> list[BleuPoint]:
    """Compute BLEU of the sentences with at most x unknown source words, for x from 0 to `max_unknown`.

    unknown_counts: the number of unknown words of each sentence. The points end at the first x that covers all
    sentences.
    """
    points = []
    for x in range(min(max_unknown, max(unknown_counts)) + 1):
        selected_sentences = []
        for sentence, count in zip(sentences, unknown_counts, strict=True):
            if count <= x:
                selected_sentences.append(sentence)
        points.append(BleuPoint.from_sentences(x, selected_sentences, bootstrap))
    return points
