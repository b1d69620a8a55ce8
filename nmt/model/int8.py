"""Weights in 8 bits for translation on a CPU. PyTorch computes the products with oneDNN's integer kernels.

Each column of a weight (n, m) has a scale, and so has each row that the weight is multiplied with: the largest
magnitude becomes 127. The sums are exact, so the result of a row does not depend on the other rows of its batch.
"""

from __future__ import annotations

import torch
from torch import Tensor

LARGEST = 127
ZERO = 128
"""Shift of the rows, since oneDNN multiplies unsigned rows with signed weights."""


class Int8Factor:
    """An 8-bit replacement of a weight (n, m), or (D, n, m) for batched products."""

    def __init__(self, weight: Tensor) -> None:
        self.stacked = weight.dim() == 3
        self.parts = [_packed(part) for part in (weight if self.stacked else [weight])]

    def multiply(self, rows: Tensor) -> Tensor:
        """Return rows @ weight in 32 bits: (..., n) -> (..., m), or (D, R, n) -> (D, R, m)."""
        if self.stacked:
            pairs = zip(rows, self.parts, strict=True)
            return torch.stack([_product(some, *part) for some, part in pairs])
        return _product(rows.reshape(-1, rows.shape[-1]), *self.parts[0]).view(*rows.shape[:-1], -1)


def _packed(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return integers in oneDNN's own layout, and the scale and the zero point of each column."""
    scales = _scales(weight, dim=0)
    whole = (weight / scales).round_().to(torch.int8)
    packed: Tensor = torch.ops.onednn.qlinear_prepack(whole.t().contiguous(), None)
    return packed, scales, torch.zeros(len(scales), dtype=torch.int32)


def _scales(values: Tensor, dim: int) -> Tensor:
    """Return the scales, the values of the integer 1."""
    least, most = values.aminmax(dim=dim)
    return torch.maximum(most, -least).div_(LARGEST).clamp_min_(torch.finfo(values.dtype).tiny)


def _product(rows: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor) -> Tensor:
    own = _scales(rows, dim=1).unsqueeze(1)
    whole = (rows / own).add_(ZERO + 0.5).to(torch.uint8)  # cut off, which rounds
    found: Tensor = torch.ops.onednn.qlinear_pointwise(
        whole, 1.0, ZERO, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return found.mul_(own)
