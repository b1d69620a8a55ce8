"""Means and standard deviations over seeds, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.results.seeds import mean, merged, standard_deviation, with_deviation


def test_mean_and_sample_deviation_by_hand() -> None:
    # deviations -2, -1, 3 from 12: (4 + 1 + 9) / 2 = 7
    assert mean([10, 11, 15]) == 12
    assert standard_deviation([10, 11, 15]) == pytest.approx(math.sqrt(7))


def test_one_run_has_no_deviation_and_a_missing_value_no_mean() -> None:
    assert mean([3.5]) == 3.5
    assert standard_deviation([3.5]) is None
    assert mean([3.5, None]) is None
    assert standard_deviation([3.5, None]) is None


@given(st.floats(-1e9, 1e9), st.integers(1, 5))
def test_equal_values_keep_every_bit(value: float, count: int) -> None:
    assert mean([value] * count) == value


def test_runs_become_one_row() -> None:
    runs = [
        {"model": "m", "seed": 1, "bleu": 10.0, "device": "A", "updates": 5},
        {"model": "m", "seed": 9, "bleu": 13.0, "device": "B", "updates": 5},
    ]
    assert merged(runs, ["bleu"]) == {
        "model": "m",
        "seed": "1 9",
        "bleu": 11.5,
        "bleu_std": pytest.approx(math.sqrt(4.5)),
        "device": "A, B",
        "updates": 5,
        "seeds": 2,
    }
    assert merged(runs[:1], ["bleu"]) == {**runs[0], "bleu_std": None, "seeds": 1}


@pytest.mark.parametrize(
    ("value", "std", "decimals", "text"),
    [
        (26.754, 0.309, 2, "26.75 ± 0.31"),
        (26.754, None, 2, "26.75"),
        (2600, 0.0, 0, "2600"),
        (None, None, 2, ""),
        (38.1234, 0.0217, 1, "38.12 ± 0.02"),
        (109.4, 12.6, 0, "109 ± 13"),
    ],
)
def test_a_deviation_is_never_shown_as_zero(
    value: float | None, std: float | None, decimals: int, text: str
) -> None:
    assert with_deviation(value, std, decimals) == text
