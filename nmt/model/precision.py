"""Matrix products in the precision that a run asks for; everything else, states included, stays in 32 bits.

fp32: as they are. tf32: a GPU's tensor cores read 32-bit factors with 10 bits of mantissa; nothing else is rounded.
bf16: factors are rounded to 8 bits of mantissa first; sums are kept in 32 bits, also where a GPU splits them, and each
result is rounded to 8 bits of mantissa once before it is stored in 32.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor

Precision = Literal["fp32", "tf32", "bf16"]

_factor_type: torch.dtype | None = None


def set_precision(precision: Precision) -> None:
    """Choose the precision of all products that follow in this process."""
    global _factor_type
    _factor_type = torch.bfloat16 if precision == "bf16" else None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


@contextmanager
def precision_of(precision: Precision) -> Iterator[None]:
    """The precision inside a `with` block; before and after it fp32."""
    set_precision(precision)
    try:
        yield
    finally:
        set_precision("fp32")


def rounds_factors() -> bool:
    """Whether factors are rounded beforehand (bf16), which a library's recurrence does to its states, too."""
    return _factor_type is not None


def factor(values: Tensor) -> Tensor:
    """A factor that several products share, rounded once: a weight that a recurrence multiplies with at every step."""
    return values if _factor_type is None else values.to(_factor_type)


def product(left: Tensor, right: Tensor) -> Tensor:
    """left @ right, (..., n) by (n, m) or batches of both; factors that `factor` has rounded are taken as they are."""
    if _factor_type is None:
        return left @ right
    return (left.to(_factor_type) @ right.to(_factor_type)).to(torch.float32)


def add_product(sums: Tensor, left: Tensor, right: Tensor) -> None:
    """sums += left @ right, all (n, m) or all batches; on a GPU in one kernel."""
    if not sums.is_cuda or _factor_type is not None:
        sums += product(left, right)
    elif sums.dim() == 2:
        sums.addmm_(left, right)
    else:
        sums.baddbmm_(left, right)


def affine(values: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    """values @ weights + bias: (P, n), (n, m), (m,) -> (P, m)."""
    if _factor_type is None:
        return torch.addmm(bias, values, weights)
    return product(values, weights) + bias
