"""BLEU of groups of sentences and its intervals."""

from __future__ import annotations

from typing import Any

import pytest

from nmt.evaluation.bleu import BleuCounts
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.sentence_groups import by_length, by_unknown_words, within


def row(source: int, right: bool, reference: int = 1, unknown: int = 0) -> dict[str, Any]:
    counts = BleuCounts(1, (4, 3, 2, 1) if right else (0, 0, 0, 0), (4, 3, 2, 1), 4, 4)
    return {
        "source_length": source,
        "reference_length": reference,
        "source_unknown": unknown,
        **counts.as_dict(),
    }


def test_a_window_holds_ten_lengths() -> None:
    windows = {window.place: window for window in by_length([row(1, True), row(20, True)], 10, 60)}
    assert list(windows) == list(range(1, 21))
    assert [words for words, window in windows.items() if window.bleu == 100] == [
        *range(1, 7),
        *range(16, 21),
    ]
    assert windows[10].bleu is None and windows[10].sentences == 0


def test_a_window_is_a_corpus_not_a_mean_of_scores() -> None:
    rows = [row(10, True), row(11, False), row(12, False)]
    [point] = [window for window in by_length(rows, 10, 60) if window.place == 11]
    assert point.sentences == 3
    assert point.bleu == pytest.approx(100 / 3, abs=1e-4)


@pytest.mark.parametrize(
    ("length", "expected"),
    [("source", {4: 2, 5: 2, 9: 1}), ("reference", {4: 1, 9: 1, 12: 1}), ("both", {4: 1, 9: 1})],
)
def test_a_length_is_that_of_source_reference_or_both(length: Any, expected: dict[int, int]) -> None:
    """A window of one length holds its own sentences alone."""
    rows = [row(4, True, 4), row(4, True, 12), row(5, True, 13), row(5, True, 20), row(9, True, 9)]
    windows = by_length(rows, 1, 12, length)
    assert {window.place: window.sentences for window in windows if window.sentences} == expected


def test_with_both_a_window_holds_the_pairs_with_both_sides_inside() -> None:
    rows = [row(10, True, 14), row(10, False, 15), row(14, True, 10), row(5, False, 12)]
    [point] = [window for window in by_length(rows, 5, 60, "both") if window.place == 12]
    assert (point.sentences, point.bleu) == (2, 100)


@pytest.mark.parametrize(
    ("length", "expected"), [("source", [0, 1, 2]), ("reference", [2, 3]), ("both", [2])]
)
def test_sentences_of_so_many_words_include_both_limits(length: Any, expected: list[int]) -> None:
    rows = [row(4, True, 3), row(5, True, 9), row(8, True, 4), row(9, True, 8)]
    assert within(rows, 4, 8, length) == [rows[place] for place in expected]


def test_windows_end_with_the_axis() -> None:
    assert by_length([row(50, True), row(70, True)], 10, 60)[-1].place == 60


def test_sentences_with_at_most_so_many_unknown_words() -> None:
    rows = [row(5, True), row(5, False, unknown=1), row(5, False, unknown=1), row(5, True, unknown=4)]
    points = by_unknown_words(rows, 10, Bootstrap(0, 0))
    assert [(point.place, point.sentences) for point in points] == [(0, 1), (1, 3), (2, 3), (3, 3), (4, 4)]
    assert [point.bleu for point in points] == pytest.approx([100, 100 / 3, 100 / 3, 100 / 3, 50], abs=1e-4)
    assert by_unknown_words(rows, 2, Bootstrap(0, 0))[-1].place == 2
