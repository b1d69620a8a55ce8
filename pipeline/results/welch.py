"""Welch's t-test: whether the means of two models' runs differ by more than their seeds explain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_STEPS = 1000
"""Intervals of the integral, whose error is then below 1e-6."""


def standard_error(deviations: Sequence[float], counts: Sequence[int]) -> float:
    """Return the standard error of the difference of two means, of standard deviations (n - 1) and numbers of runs."""
    return math.sqrt(sum(deviation**2 / count for deviation, count in zip(deviations, counts, strict=True)))


def p_value(difference: float, deviations: Sequence[float], counts: Sequence[int]) -> float:
    """Return the two-sided p-value of a difference of two means, whose variances need not be equal.

    Args:
        difference: of the means.
        deviations: the standard deviation (n - 1) of each model's runs.
        counts: the number of each model's runs, at least two.
    """
    error = standard_error(deviations, counts)
    if error == 0:
        return 1.0 if difference == 0 else 0.0

    # Welch and Satterthwaite's degrees of freedom: with three runs each between 2 and 4
    shares = [
        (deviation**2 / count) ** 2 / (count - 1) for deviation, count in zip(deviations, counts, strict=True)
    ]
    freedom = error**4 / sum(shares)

    # Student's density is proportional to cos(a)^(freedom - 1) for t = sqrt(freedom) tan(a)
    limit = math.atan(abs(difference) / error / math.sqrt(freedom))
    angles = limit * (np.arange(_STEPS) + 0.5) / _STEPS
    inside = limit * float(np.mean(np.cos(angles) ** (freedom - 1)))
    whole = math.sqrt(math.pi) / 2 * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
    return max(0.0, 1 - inside / whole)
