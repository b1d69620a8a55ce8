"""Means and standard deviations over seeds, against numbers worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.results.seeds import Mean, merge_summaries


def test_mean_and_sample_deviation_by_hand() -> None:
    # deviations -2, -1, 3 from 12: (4 + 1 + 9) / 2 = 7
    mean = Mean.from_values([10, 11, 15])
    assert (mean.value, mean.std) == (12, pytest.approx(math.sqrt(7)))


def test_one_run_has_no_deviation_and_a_missing_value_no_mean() -> None:
    assert Mean.from_values([3.5]) == Mean(3.5, None)
    assert Mean.from_values([3.5, None]) == Mean(None, None)


@given(st.floats(-1e9, 1e9), st.integers(1, 5))
def test_mean_of_equal_values_keeps_every_bit(value: float, count: int) -> None:
    assert Mean.from_values([value] * count).value == value


def test_summaries_become_one() -> None:
    runs = [
        {"model": "m", "seed": 1, "updates": 10, "device": "A", "parameters": 5},
        {"model": "m", "seed": 9, "updates": 13, "device": "B", "parameters": 5},
    ]
    merged = merge_summaries(runs)
    assert merged["updates"] == Mean(11.5, pytest.approx(math.sqrt(4.5)), 2)
    facts = {key: merged[key] for key in ("model", "seed", "device", "parameters", "seeds")}
    assert facts == {"model": "m", "seed": "1 9", "device": "A, B", "parameters": 5, "seeds": 2}


@pytest.mark.parametrize(
    ("value", "std", "decimals", "text"),
    [
        (26.754, 0.309, 2, "26.75 ± 0.31"),
        (2600, 0.0, 0, "2,600"),
        (None, None, 2, ""),
        (38.1234, 0.0217, 1, "38.12 ± 0.02"),
    ],
)
def test_deviation_is_never_printed_as_zero(
    value: float | None, std: float | None, decimals: int, text: str
) -> None:
    assert Mean(value, std).format(decimals) == text
