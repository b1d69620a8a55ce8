"""Welch's t-test: whether the means of two models' runs differ by more than their seeds explain."""

import math
from collections.abc import Sequence

from mpmath import betainc


def run_welch_test(
    difference: float, deviations: Sequence[float], counts: Sequence[int]
) -> tuple[float, float]:
    """Return the standard error and the two-sided p-value of a difference of two means, whose variances may differ.

    Args:
        difference: the difference of the means.
        deviations: the standard deviation (n - 1) of each model's runs.
        counts: the number of runs of each model, at least two.
    """
    variances_of_means = []
    for deviation, count in zip(deviations, counts, strict=True):
        variances_of_means.append(deviation**2 / count)
    standard_error = math.sqrt(sum(variances_of_means))
    if standard_error == 0:
        return standard_error, 1.0 if difference == 0 else 0.0

    # Welch and Satterthwaite's degrees of freedom: with three runs each between 2 and 4
    denominator = 0.0
    for variance, count in zip(variances_of_means, counts, strict=True):
        denominator += variance**2 / (count - 1)
    degrees_of_freedom = standard_error**4 / denominator

    # Both tails of Student's distribution are a regularized incomplete beta function.
    t = difference / standard_error
    x = degrees_of_freedom / (degrees_of_freedom + t**2)
    return standard_error, float(betainc(degrees_of_freedom / 2, 0.5, 0, x, regularized=True))
