"""The attention of a model in four numbers, which tell a model that has learned where to look from one that has not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

ATTENTION_HEADERS = {
    "entropy": "entropy",
    "max_weight": "largest weight",
    "first_weight": "first position",
    "last_weight": "last position",
}
"""Key of a statistic -> its header in a table."""


def measure_attention(alignments: Iterable[Sequence[Sequence[float]]]) -> dict[str, float]:
    """Return statistics of attention matrices: means over all target positions, or {} if there are none.

    - `entropy` of the weights alpha_i1 ... alpha_iS, divided by log S: 0 if one source word has all the weight, 1 if
      every word has the same.
    - `max_weight`: the largest weight.
    - `first_weight` and `last_weight`: the weights of the first and of the last source position.

    Args:
        alignments: for each sentence a matrix alpha (T, S), T target positions by S source positions.
    """
    rows: list[np.ndarray] = []  # each (T, 4)
    for alignment in alignments:
        alpha = np.asarray(alignment, dtype=np.float64)  # (T, S)
        if alpha.size == 0 or alpha.shape[1] == 1:
            continue  # with a single source word every attention is the same

        # 0 log 0 is 0
        logarithms = np.log(alpha, where=alpha > 0, out=np.zeros_like(alpha))
        entropy = -(alpha * logarithms).sum(axis=1) / np.log(alpha.shape[1])
        rows.append(np.stack([entropy, alpha.max(axis=1), alpha[:, 0], alpha[:, -1]], axis=1))

    if not rows:
        return {}
    means = np.concatenate(rows).mean(axis=0)
    return {name: round(float(mean), 4) for name, mean in zip(ATTENTION_HEADERS, means, strict=True)}


def format_attention(statistics: dict[str, float]) -> list[str]:
    """Return the cells of a row of statistics for readers, in the order of `ATTENTION_HEADERS`."""
    return [f"{statistics[name]:.2f}" for name in ATTENTION_HEADERS]
