"""Lines in pieces: nothing is lost, cuts fall behind punctuation, and the n best are the n best of all combinations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.decoding.sentence_splitting import Found, pieces, together


@given(st.lists(st.sampled_from(["a", ",", ".", ";"]), max_size=60), st.integers(1, 12))
def test_pieces_are_the_line(words: list[str], limit: int) -> None:
    found = pieces(words, limit)
    assert [word for piece in found for word in piece] == words
    assert all(1 <= len(piece) <= limit for piece in found)


def test_cuts_fall_behind_the_last_full_stop_or_comma_of_the_second_half() -> None:
    assert pieces(["a", ".", "b", "c", ".", "d", "e", "f"], 6) == [["a", ".", "b", "c", "."], ["d", "e", "f"]]
    assert pieces(["a", ".", "b", ",", "c", "d", "e", "f"], 6) == [["a", ".", "b", ","], ["c", "d", "e", "f"]]
    assert pieces(["a", "b", "c", "d", "e"], 2) == [["a", "b"], ["c", "d"], ["e"]]
    assert pieces([], 3) == []


@given(
    st.lists(st.lists(st.floats(-9, 0), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(1, 5)
)
def test_the_n_best_of_a_line_are_those_of_all_combinations(scores: list[list[float]], n_best: int) -> None:
    parts = [
        [Found([str(score)], score / 2, True, score) for score in sorted(part, reverse=True)]
        for part in scores
    ]
    totals = sorted((sum(values) for values in product(*scores)), reverse=True)[:n_best]
    limited = [part[:n_best] for part in parts]
    assert [found.score for found in together(limited, n_best)] == pytest.approx(totals)


def test_attention_is_kept_piece_by_piece() -> None:
    one, other = np.full((2, 3), 0.5, np.float32), np.full((1, 2), 0.25, np.float32)
    left = Found(["a", "b"], -1.0, True, -0.4, [-0.5, -0.4, -0.1], [one])
    right = Found(["c"], -2.0, False, -2.0, [-2.0], [other])
    (found,) = together([[left], [right]], 1)
    assert found.words == ["a", "b", "c"] and not found.finished
    assert found.word_log_probabilities == [-0.5, -0.4, -0.1, -2.0]
    assert found.weights is not None
    assert [block.shape for block in found.weights] == [(2, 3), (1, 2)]
