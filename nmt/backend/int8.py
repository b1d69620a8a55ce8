"""Matrix products of 8-bit integers on a CPU, by oneDNN's integer kernels."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

MAX_INTEGER = 127
ZERO_POINT = 128
"""The integer that stands for 0 in the rows, since oneDNN multiplies unsigned rows with signed weights."""


class PackedMatrix(NamedTuple):
    """A matrix (n, m) as integers in oneDNN's own layout, with the scale and the zero point of each column, (m,)."""

    integers: Tensor
    scales: Tensor
    zero_points: Tensor


class Int8Weight:
    """An 8-bit replacement of a weight (n, m), or (D, n, m) for batched products.

    Each column of a weight has a scale, and so has each row that the weight is multiplied with: the largest magnitude
    becomes 127. The sums are exact, so the result of a row does not depend on the other rows of its batch.
    """

    def __init__(self, weight: Tensor) -> None:
        self.is_stacked = weight.dim() == 3
        matrices = list(weight) if self.is_stacked else [weight]
        self.matrices = [_pack_matrix(matrix) for matrix in matrices]

    def multiply(self, rows: Tensor) -> Tensor:
        """Return rows @ weight in 32 bits: (..., n) -> (..., m), or (D, R, n) -> (D, R, m)."""
        if self.is_stacked:
            pairs = zip(rows, self.matrices, strict=True)
            return torch.stack([_multiply_rows(direction_rows, matrix) for direction_rows, matrix in pairs])
        product = _multiply_rows(rows.reshape(-1, rows.shape[-1]), self.matrices[0])
        return product.view(*rows.shape[:-1], -1)


def _pack_matrix(weight: Tensor) -> PackedMatrix:
    """Return a weight (n, m) in 8 bits, as oneDNN multiplies with it."""
    scales = _compute_scales(weight, dim=0)
    integers = (weight / scales).round_().to(torch.int8)
    packed_integers = torch.ops.onednn.qlinear_prepack(integers.t().contiguous(), None)
    return PackedMatrix(packed_integers, scales, torch.zeros(len(scales), dtype=torch.int32))


def _compute_scales(values: Tensor, dim: int) -> Tensor:
    """Return the numbers that the integer 1 stands for, if 127 stands for the largest magnitude along a dimension."""
    minima, maxima = values.aminmax(dim=dim)
    return torch.maximum(maxima, -minima).div_(MAX_INTEGER).clamp_min_(torch.finfo(values.dtype).tiny)


def _multiply_rows(rows: Tensor, matrix: PackedMatrix) -> Tensor:
    """Return rows (R, n) @ matrix (n, m), in float32, from a product of 8-bit integers."""
    row_scales = _compute_scales(rows, dim=1).unsqueeze(1)

    # The conversion truncates, so adding 0.5 rounds to the nearest integer.
    integers = (rows / row_scales).add_(ZERO_POINT + 0.5).to(torch.uint8)

    # The kernel multiplies by the scales of the columns, and the `return` by the scales of the rows. The arguments from
    # None on mean: no bias; a result in float32, which is not scaled (1.0, 0); no activation ("none", [], "").
    product: Tensor = torch.ops.onednn.qlinear_pointwise(
        integers, 1.0, ZERO_POINT, matrix.integers, matrix.scales, matrix.zero_points,
        None, 1.0, 0, torch.float32, "none", [], "",
    )  # fmt: skip
    return product.mul_(row_scales)
