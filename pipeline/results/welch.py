"""Welch's t-test: whether the means of two models' runs differ by more than their seeds explain."""

import math
from collections.abc import Sequence

import numpy as np

_STEPS = 1000
"""Intervals of the integral, whose error is then below 1e-6."""


def run_welch_test(
    difference: float, deviations: Sequence[float], counts: Sequence[int]
) -> tuple[float, float]:
    """Return the standard error and the two-sided p-value of a difference of two means, whose variances may differ.

    Args:
        difference: the difference of the means.
        deviations: the standard deviation (n - 1) of each model's runs.
        counts: the number of each model's runs, at least two.
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

    # Student's density is proportional to cos(a)^(degrees_of_freedom - 1), where t = sqrt(degrees_of_freedom) tan(a).
    # So the integral up to the angle of the observed t, divided by that up to a right angle, is 1 - p.
    max_angle = math.atan(abs(difference) / standard_error / math.sqrt(degrees_of_freedom))
    angles = max_angle * (np.arange(_STEPS) + 0.5) / _STEPS
    integral = max_angle * float(np.mean(np.cos(angles) ** (degrees_of_freedom - 1)))
    gamma_ratio = math.exp(math.lgamma(degrees_of_freedom / 2) - math.lgamma((degrees_of_freedom + 1) / 2))
    total_integral = math.sqrt(math.pi) / 2 * gamma_ratio
    return standard_error, max(0.0, 1 - integral / total_integral)
