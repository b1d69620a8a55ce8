"""Matrix products in the precision that a run asks for; everything else, states included, stays in 32 bits.

fp32: as they are. tf32: a GPU's tensor cores read 32-bit factors with 10 bits of mantissa; nothing else is rounded.
bf16: factors are rounded to 8 bits of mantissa first; sums are kept in 32 bits, also where a GPU splits them, and each
result is rounded to 8 bits of mantissa once before it is stored in 32.
int8: weights that `factor` or `kept` has made, and the rows that they are multiplied with (`nmt.model.int8`); only to
translate, on a processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import get_args

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.model import int8
from nmt.model.computing import COMPUTING, Precision
from nmt.model.int8 import Int8Factor

Factor = Tensor | Int8Factor


def set_precision(precision: Precision) -> None:
    """Choose the precision of all products that follow in this process."""
    COMPUTING.change(precision=precision)


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
    return COMPUTING.factor_type is not None


def refuse_unable(precision: Precision, device: torch.device) -> None:
    """A UserError for a precision that there is not, and for one that nothing multiplies in."""
    if precision not in get_args(Precision):
        raise UserError(f"precision {precision}: expected one of {', '.join(get_args(Precision))}")
    if precision == "bf16" and device.type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0):
        name = torch.cuda.get_device_name(device)
        raise UserError(f"precision bf16: {name} computes in it only by way of others, and slowly; use fp32")
    if precision == "int8" and not (device.type == "cpu" and int8.supported()):
        place = "a GPU" if device.type == "cuda" else "this processor, which lacks VNNI instructions,"
        raise UserError(f"precision int8: {place} is not supported; use bf16 or fp32, or another device")


def factor(values: Tensor) -> Factor:
    """A factor that several products share, rounded once: a weight that a recurrence multiplies with at every step."""
    return Int8Factor(values) if COMPUTING.precision == "int8" else rounded(values)


def rounded(values: Tensor) -> Tensor:
    """Values as bf16 has them; in any other precision as they are."""
    return values if COMPUTING.factor_type is None else values.to(COMPUTING.factor_type)


def fixed(module: nn.Module) -> bool:
    """Whether a module's weights are only read: neither trained nor asked for gradients."""
    return not (module.training or torch.is_grad_enabled())


def kept(module: nn.Module, name: str, make: Callable[[], Tensor]) -> Factor:
    """`factor(make())` of a module's weights: made once where they are fixed, else each time."""
    if not fixed(module):
        return factor(make())
    made: dict[tuple[str, Precision], Factor] = module.__dict__.setdefault("_kept_factors", {})
    key = name, COMPUTING.precision
    if key not in made:
        with torch.no_grad():
            made[key] = factor(make())
    return made[key]


def product(left: Tensor, right: Factor) -> Tensor:
    """left @ right, (..., n) by (n, m) or batches of both; factors that `factor` has rounded are taken as they are."""
    if isinstance(right, Int8Factor):
        return right.multiply(left)
    if COMPUTING.factor_type is None:
        return left @ right
    return (rounded(left) @ rounded(right)).to(torch.float32)


def add_product(sums: Tensor, left: Tensor, right: Factor) -> None:
    """sums += left @ right, all (n, m) or all batches; on a GPU in one kernel."""
    if not sums.is_cuda or rounds_factors() or isinstance(right, Int8Factor):
        sums += product(left, right)
    elif sums.dim() == 2:
        sums.addmm_(left, right)
    else:
        sums.baddbmm_(left, right)


def affine(values: Tensor, weights: Factor, bias: Tensor) -> Tensor:
    """values @ weights + bias: (P, n), (n, m), (m,) -> (P, m)."""
    if isinstance(weights, Tensor) and not rounds_factors():
        return torch.addmm(bias, values, weights)
    return product(values, weights) + bias
