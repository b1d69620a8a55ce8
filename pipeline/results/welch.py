"""Welch's t-test: whether the means of two models' runs differ by more than their seeds explain."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from mpmath import betainc

from pipeline.results.seeds import Mean


class Difference(NamedTuple):
    """A difference of two means; None if a mean has no value.

    error and p: its standard error and two-sided p-value, if both means are of several runs.
    """

    value: float | None = None
    error: float | None = None
    p: float | None = None


def compare_means(mean: Mean, other_mean: Mean) -> Difference:
    """Return a mean less another one."""
    if mean.value is None or other_mean.value is None:
        return Difference()
    value = mean.value - other_mean.value
    if mean.std is None or other_mean.std is None:
        return Difference(value)
    error, p = run_welch_test(value, (mean.std, other_mean.std), (mean.run_count, other_mean.run_count))
    return Difference(value, error, p)


def compute_order_p_value(means: Sequence[Mean]) -> float | None:
    """Return the p-value of an ascending order of means; None if a step that decides it has none.

    The order is right if each step is upwards by more than chance, so the greatest p counts. It is wrong if one step is
    downwards by more than chance, so the smallest p of these steps counts.
    """
    steps = [compare_means(mean, previous_mean) for previous_mean, mean in pairwise(means)]
    decreases = [step for step in steps if (step.value or 0.0) < 0]
    deciding_steps = decreases or steps
    p_values = [step.p for step in deciding_steps if step.p is not None]
    if len(p_values) < len(deciding_steps):
        return None
    return min(p_values) if decreases else max(p_values)


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
