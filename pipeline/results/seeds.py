"""Merges several runs of one model into one row: means, and standard deviations over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

LEARNING = ("updates", "epochs", "hours", "train_nll", "dev_nll")
"""Keys in which the summaries of a model's runs may differ."""


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean, exactly the common value if all are equal; None if one is missing."""
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return None
    return present[0] if len(set(present)) == 1 else statistics.fmean(present)


def standard_deviation(values: Sequence[float | None]) -> float | None:
    """Return the sample standard deviation (n - 1); None for a single value or if one is missing."""
    present = [value for value in values if value is not None]
    return statistics.stdev(present) if len(present) == len(values) > 1 else None


def merged(rows: Sequence[Row], numbers: Sequence[str]) -> Row:
    """Merge the runs of one model into one row.

    For `numbers`, the row has means, and standard deviations under `<name>_std`. For other keys, it has the value, or
    the distinct values joined by commas. `seed` lists the seeds; `seeds` is their number.
    """
    row = {key: _agreed([row.get(key) for row in rows]) for key in rows[0] if key not in numbers}
    for name in numbers:
        values = [row.get(name) for row in rows]
        row |= {name: mean(values), f"{name}_std": standard_deviation(values)}
    seeds = [row.get("seed") for row in rows]
    return {**row, "seed": seeds[0] if len(rows) == 1 else " ".join(map(str, seeds)), "seeds": len(rows)}


def merged_summary(summaries: Sequence[Row]) -> Row:
    """Merge the summaries of one model's runs into one row; the number of updates is rounded to an integer."""
    summary = merged(summaries, LEARNING)
    return {**summary, "updates": round(summary["updates"])}


def _agreed(values: Sequence[Any]) -> Any:
    different = [value for index, value in enumerate(values) if value not in values[:index]]
    return different[0] if len(different) == 1 else ", ".join(map(str, different))


def with_deviation(value: float | None, std: float | None, decimals: int) -> str:
    """Format a number like `26.75 ± 0.31`; only the number without a deviation, and "" for a missing number.

    There are more decimals than requested if the first digit of the deviation needs them.
    """
    if value is None:
        return ""
    if not std:
        return f"{value:.{decimals}f}"
    decimals = max(decimals, -math.floor(math.log10(std)))
    return f"{value:.{decimals}f} ± {std:.{decimals}f}"
