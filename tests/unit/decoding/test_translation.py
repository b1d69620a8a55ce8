"""Lines in pieces: nothing is lost, cuts fall behind punctuation, and the n best are the n best of all combinations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.decoding.translation import Translation, join_pieces, pieces


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
        [
            Translation("", "", score / 2, [], [str(score)], [], rank=score)
            for score in sorted(part, reverse=True)
        ]
        for part in scores
    ]
    totals = sorted((sum(values) for values in product(*scores)), reverse=True)[:n_best]
    limited = [part[:n_best] for part in parts]
    assert [found.rank for found in join_pieces(limited, n_best, False)] == pytest.approx(totals)


def test_attention_is_kept_piece_by_piece() -> None:
    one, other = np.full((2, 3), 0.5, np.float32), np.full((1, 2), 0.25, np.float32)
    left = Translation("", "", -1.0, [*"xyz"], ["a", "b"], [-0.5, -0.4, -0.1], True, -0.4, [3], [one])
    right = Translation("", "", -2.0, [*"uv"], ["c"], [-2.0], False, -2.0, [2], [other])
    (found,) = join_pieces([[left], [right]], 1, True)
    assert found.tokens == ["a", "b", "c"] and not found.finished and found.pieces == [3, 2]
    assert found.token_scores == [-0.5, -0.4, -0.1, -2.0]
    assert found.attention is not None
    assert found.attention.tolist() == [[0.5] * 3 + [0] * 2] * 2 + [[0] * 3 + [0.25] * 2]
