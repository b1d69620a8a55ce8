"""Welch's t-test, against the tables of Student's t."""

import math

import pytest

from pipeline.results.seeds import Mean
from pipeline.results.welch import compare_means, compute_order_p_value, run_welch_test


@pytest.mark.parametrize(
    ("t", "deviations", "counts", "p"),
    [
        (2.776445, (1.0, 1.0), (3, 3), 0.05),  # four degrees of freedom
        (4.302653, (1.0, 0.0), (3, 3), 0.05),  # two
        (12.706205, (0.0, 1.0), (3, 2), 0.05),  # one
        (3.169273, (2.0, 2.0), (6, 6), 0.01),  # ten
        (0.0, (1.0, 2.0), (3, 4), 1.0),
        (1000.0, (1.0, 0.25), (2, 2), 2.773145e-4),  # 1.12: Student's density, integrated with 25 digits
    ],
)
def test_p_value_matches_students_tables(
    t: float, deviations: tuple[float, float], counts: tuple[int, int], p: float
) -> None:
    error = math.hypot(deviations[0] / math.sqrt(counts[0]), deviations[1] / math.sqrt(counts[1]))
    assert run_welch_test(-t * error, deviations, counts) == pytest.approx((error, p), rel=2e-6)
    mean, other_mean = Mean(0.0, deviations[0], counts[0]), Mean(t * error, deviations[1], counts[1])
    assert compare_means(mean, other_mean) == pytest.approx((-t * error, error, p), rel=2e-6)


def test_p_value_without_variance() -> None:
    assert run_welch_test(0.1, (0.0, 0.0), (2, 2)) == (0.0, 0.0)
    assert run_welch_test(0.0, (0.0, 0.0), (2, 2)) == (0.0, 1.0)


def test_order_depends_on_each_step() -> None:
    low, middle, high = (Mean(value, std=0.01, run_count=3) for value in (1.0, 2.0, 4.0))
    noisy_low, noisy_high = Mean(0.5, std=4.0, run_count=3), Mean(4.0, std=4.0, run_count=3)
    # all steps are significant: the least certain one counts
    assert compute_order_p_value([low, middle, high]) == compare_means(middle, low).p
    # the greater step may be noise
    assert compute_order_p_value([low, middle, noisy_high]) == compare_means(noisy_high, middle).p
    # one step downwards is significant, the greater one may be noise
    assert compute_order_p_value([middle, low, noisy_low]) == compare_means(low, middle).p
    # a step to a single run has no p
    assert compute_order_p_value([low, middle, Mean(4.0)]) is None
