"""Multiply-adds of an update of RNNsearch and RNNencdec, counted from the sizes.

Only products with weights and the attention's products count. The backward pass costs twice the forward pass: one
product for the inputs, one for the weights. A multiply-add is two floating-point operations.
"""

from __future__ import annotations

from benchmarks.training.sizes import Sizes

FORWARD_AND_BACK = 3
OPERATIONS = 2


def rnnsearch(sizes: Sizes) -> int:
    """Count RNNsearch (App. A.1.2, A.2): two units read, one writes. Contexts have 2n values, the alignment n units."""
    n, m, maxout = sizes.hidden, sizes.embedding, sizes.maxout
    encoder = 2 * (3 * m * n + 3 * n * n) + 2 * n * n  # and U_a
    recurrence = 3 * m * n + 3 * n * n + 3 * 2 * n * n + n * n  # W, U, C of gates and candidate; W_a
    readout = (n + m + 2 * n) * 2 * maxout + maxout * sizes.vocabulary
    attention = (n + 2 * n) * sizes.length  # v_a; the weighted sum
    return sizes.positions * (encoder + recurrence + readout + attention) + sizes.batch * n * n


def rnnencdec(sizes: Sizes) -> int:
    """Count RNNencdec: one unit reads, one writes. The products with its fixed context are the same for all words."""
    n, m, maxout = sizes.hidden, sizes.embedding, sizes.maxout
    units = 2 * (3 * m * n + 3 * n * n)
    readout = (n + m) * 2 * maxout + maxout * sizes.vocabulary
    return sizes.positions * (units + readout) + sizes.batch * (n * n + 3 * n * n + n * 2 * maxout)


COUNTED = {"rnnsearch": rnnsearch, "rnnencdec": rnnencdec}


def gflop(name: str, sizes: Sizes) -> float | None:
    """Return the floating-point operations of an update, in 10^9; None for a contender that is not counted."""
    count = COUNTED.get(name)
    return None if count is None else OPERATIONS * FORWARD_AND_BACK * count(sizes) / 1e9
