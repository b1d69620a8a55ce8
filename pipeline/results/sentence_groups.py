"""BLEU of groups of sentences: by length (Figure 2), unknown words (Cho et al., 2014b, Figure 4c), or mean rank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pipeline.config.artifacts import ReportSettings
from pipeline.config.text import SentenceLength
from pipeline.results.bootstrap import NO_SAMPLES, Bootstrap, SampledBleu
from pipeline.results.papers import ScoreColumn
from pipeline.results.seeds import ScoredSentence, ScoredSentences

MIN_SENTENCES = 10
"""Minimum number of sentences at a point of a curve: BLEU of fewer sentences says little."""
_DIGITS = 6
"""Decimals of BLEU. Further ones depend on the order in which a machine adds numbers."""


@dataclass(frozen=True)
class BleuPoint:
    """Corpus BLEU of the sentences at one position x of an axis; None if there are too few sentences."""

    x: float
    sentence_count: int
    bleu: float | None
    interval: tuple[float, float] | None
    """95% bootstrap interval over these sentences."""

    @classmethod
    def from_sentences(cls, x: float, sentences: ScoredSentences, bootstrap: Bootstrap) -> Self:
        """Compute the point at x from its sentences."""
        if len(sentences) < MIN_SENTENCES:
            return cls(x, len(sentences), bleu=None, interval=None)
        sampled_bleu = SampledBleu([sentences], bootstrap)
        return cls(x, len(sentences), round(sampled_bleu.bleu, _DIGITS), sampled_bleu.compute_interval())


def bleu_by_rank(
    sentences: ScoredSentences, keys: Sequence[float], group_count: int, bootstrap: Bootstrap
) -> tuple[list[BleuPoint], list[float]]:
    """Sort the sentences by `keys`, and compute BLEU of `group_count` equal groups (Sutskever et al., 2014, Figure 3).

    Group sizes differ by at most one. Sentences with equal keys stay in the order of the text. Sentences without words
    are left out. If there are fewer sentences than groups, each sentence is a group.

    Returns:
        The points of the groups, at x = 0.5, 1.5, ...; and the boundaries of the groups: the smallest key of all
        sentences, then the largest key of each group.
    """
    # 1. the sentences in the order of their keys
    lines_with_words = [line for line, sentence in enumerate(sentences) if sentence["source_length"]]
    lines_with_words.sort(key=lambda line: keys[line])

    # 2. a point for each group
    boundaries = [keys[line] for line in lines_with_words[:1]]
    points: list[BleuPoint] = []
    start = 0
    for group_number in range(1, group_count + 1):
        # 10 sentences in 4 groups: 2, 5, 8, 10
        stop = round(group_number * len(lines_with_words) / group_count)
        group_lines = lines_with_words[start:stop]
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
    side: SentenceLength = "source",
    bootstrap: Bootstrap = NO_SAMPLES,
) -> list[BleuPoint]:
    """Compute BLEU of the sentences within a window around each length (Figure 2).

    Args:
        sentences: the scored sentences. Sentences without words are left out.
        window: number of lengths that a point covers, from x - window // 2 on (10 in Cho et al., 2014b).
        max_words: the largest x. The points go from the shortest to the longest sentence; some may have no sentences.
        side: the side whose words are counted. With "both", source and reference must be within the window.
        bootstrap: number of samples, and seed, of the intervals.
    """
    # 1. the lengths of all sentences
    sentences_with_words = [sentence for sentence in sentences if all(list_lengths(sentence, side))]
    lengths = []
    for sentence in sentences_with_words:
        lengths += list_lengths(sentence, side)

    # 2. a point for each length from the shortest to the longest
    points = []
    max_x = min(max(lengths, default=0), max_words)
    for x in range(min(lengths, default=1), max_x + 1):
        min_length = x - window // 2
        max_length = min_length + window - 1
        window_sentences = [
            sentence
            for sentence in sentences_with_words
            if has_length(sentence, min_length, max_length, side)
        ]
        points.append(BleuPoint.from_sentences(x, window_sentences, bootstrap))
    return points


def list_lengths(sentence: ScoredSentence, side: SentenceLength) -> list[int]:
    """Return the number of words on a side of a sentence; with "both", the numbers of source and reference."""
    sides = ("source", "reference") if side == "both" else (side,)
    return [int(sentence[f"{name}_length"]) for name in sides]


def count_words(sentence: ScoredSentence, side: SentenceLength) -> int:
    """Return the number of words on a side of a sentence; with "both", the larger number."""
    return max(list_lengths(sentence, side))


def has_length(sentence: ScoredSentence, min_words: int, max_words: int, side: SentenceLength) -> bool:
    """Return whether a sentence has `min_words` to `max_words` words on a side; with "both", on each side."""
    return all(min_words <= length <= max_words for length in list_lengths(sentence, side))


def is_in_column(sentence: ScoredSentence, column: ScoreColumn, settings: ReportSettings) -> bool:
    """Return whether a sentence has one of the lengths that a column of a table scores."""
    if column.words is None:
        return True
    min_words, max_words = column.words
    return has_length(sentence, min_words, max_words, column.words_of or settings.figure2_length)


def bleu_by_unknown_words(
    sentences: ScoredSentences, unknown_counts: Sequence[int], max_unknown: int, bootstrap: Bootstrap
) -> list[BleuPoint]:
    """Compute BLEU of the sentences with at most x unknown source words, for x from 0 to `max_unknown`.

    unknown_counts: the number of unknown words of each sentence. The points end at the first x that covers all
    sentences.
    """
    points = []
    for x in range(min(max_unknown, max(unknown_counts)) + 1):
        pairs = zip(sentences, unknown_counts, strict=True)
        selected_sentences = [sentence for sentence, count in pairs if count <= x]
        points.append(BleuPoint.from_sentences(x, selected_sentences, bootstrap))
    return points
