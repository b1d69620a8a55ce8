"""BLEU of groups of sentences."""

from typing import Any

import pytest

from pipeline.results.bootstrap import Bootstrap
from pipeline.results.sentence_groups import (
    MIN_SENTENCES,
    bleu_by_length,
    bleu_by_unknown_words,
    count_words,
    has_length,
)


def sentence(source: int, is_right: bool, reference: int = 1) -> dict[str, Any]:
    """A sentence with these lengths, all or none of its n-grams right."""
    correct = [4, 3, 2, 1] if is_right else [0, 0, 0, 0]
    counts = {"correct": correct, "total": [4, 3, 2, 1], "hypothesis_words": 4, "reference_words": 4}
    return {"source_length": source, "reference_length": reference, **counts}


def test_window_covers_ten_lengths_and_needs_ten_sentences() -> None:
    rows = [sentence(1, True), sentence(20, True)] * MIN_SENTENCES + [sentence(40, True)] * (
        MIN_SENTENCES - 1
    )
    points = bleu_by_length(rows, 10, 30)
    assert [point.x for point in points] == list(range(1, 31)), "the axis ends at 30"
    assert [point.x for point in points if point.bleu == 100] == [*range(1, 7), *range(16, 26)]
    assert bleu_by_length(rows, 10, 60)[-1].bleu is None


def test_window_is_a_corpus_not_a_mean_of_scores() -> None:
    rows = [sentence(10, True), sentence(11, False), sentence(12, False)] * MIN_SENTENCES
    point = bleu_by_length(rows, 10, 60)[1]
    assert (point.x, point.sentence_count) == (11, 3 * MIN_SENTENCES)
    assert point.bleu == pytest.approx(100 / 3, abs=1e-4)


@pytest.mark.parametrize(
    ("length", "expected"),
    [("source", {4: 2, 5: 2, 9: 1}), ("reference", {4: 1, 9: 1, 12: 1}), ("both", {4: 1, 9: 1})],
)
def test_length_of_source_reference_or_both(length: Any, expected: dict[int, int]) -> None:
    rows = [
        sentence(source, True, reference) for source, reference in ((4, 4), (4, 12), (5, 13), (5, 20), (9, 9))
    ]
    points = bleu_by_length(rows, 1, 12, length)
    assert {point.x: point.sentence_count for point in points if point.sentence_count} == expected
    assert [count_words(row, length) for row in rows[1:3]] == ([4, 5] if length == "source" else [12, 13])


@pytest.mark.parametrize(
    ("length", "expected"), [("source", [0, 1, 2]), ("reference", [2, 3]), ("both", [2])]
)
def test_selection_by_length_includes_both_limits(length: Any, expected: list[int]) -> None:
    rows = [sentence(4, True, 3), sentence(5, True, 9), sentence(8, True, 4), sentence(9, True, 8)]
    assert [index for index, row in enumerate(rows) if has_length(row, 4, 8, length)] == expected


def test_bleu_by_unknown_words() -> None:
    rows = [sentence(5, True), sentence(5, False), sentence(5, False), sentence(5, True)] * MIN_SENTENCES
    unknown_counts = [0, 1, 1, 4] * MIN_SENTENCES
    points = bleu_by_unknown_words(rows, unknown_counts, 10, Bootstrap(0, 0))
    counts = [(point.x, point.sentence_count) for point in points]
    assert counts == [(0, 10), (1, 30), (2, 30), (3, 30), (4, 40)]
    assert [point.bleu for point in points] == pytest.approx([100, 100 / 3, 100 / 3, 100 / 3, 50], abs=1e-4)
    assert bleu_by_unknown_words(rows, unknown_counts, 2, Bootstrap(0, 0))[-1].x == 2
