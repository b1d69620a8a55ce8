"""Matrix products in the precision of the settings. Everything else, states included, stays in 32 bits.

fp32: factors are not rounded. tf32: a GPU's tensor cores read 11 significant bits of 32-bit factors; nothing else is
rounded. bf16: factors are first rounded to 8 significant bits. Sums have 32 bits, also where a GPU splits them. Each
result is rounded to 8 significant bits once, before it is stored in 32 bits. int8: the weights made by `factor` or
`cached_factor` and the rows that they are multiplied with are rounded to 8-bit integers (`nmt.model.int8`). It is only
for translation on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from nmt.errors import UserError
from nmt.model.computing import COMPUTING, OWN_PRECISION, Precision
from nmt.model.int8 import Int8Factor

Factor = Tensor | Int8Factor

INSTRUCTIONS = {"bf16": {"avx512_bf16", "amx_bf16", "bf16"}, "int8": {"avx512_vnni", "avx_vnni"}}
"""A CPU's flags, as Linux names them, of which a precision takes one.

Without them, bf16 takes 37 times as long as fp32, and sums of two products of int8 overflow 16 bits."""
_PROCESSOR = Path("/proc/cpuinfo")


def supported(precision: Precision) -> bool:
    """Return whether this machine's processor has instructions for a precision."""
    if precision not in INSTRUCTIONS:
        return True
    flags = _PROCESSOR.read_text(encoding="utf-8").split() if _PROCESSOR.exists() else []
    return not INSTRUCTIONS[precision].isdisjoint(flags)


def set_precision(precision: Precision) -> None:
    """Choose the precision of all later products of this process."""
    COMPUTING.change(process_precision=precision)


@contextmanager
def precision_of(precision: Precision) -> Iterator[None]:
    """Use a precision inside a `with` block, and fp32 before and after it."""
    set_precision(precision)
    try:
        yield
    finally:
        set_precision("fp32")


@contextmanager
def own_precision(precision: Precision) -> Iterator[None]:
    """Translate in a precision inside a `with` block, whatever other threads do at the same time."""
    before = OWN_PRECISION.set(precision)
    try:
        yield
    finally:
        OWN_PRECISION.reset(before)


def rounds_factors() -> bool:
    """Return whether factors are rounded beforehand (bf16). A library's recurrence then also rounds its states."""
    return COMPUTING.factor_type is not None


def refuse_unable(precision: Precision, device: torch.device) -> None:
    """Raise a UserError for a precision that the device has no products for."""
    if precision == "bf16" and device.type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0):
        name = torch.cuda.get_device_name(device)
        raise UserError(f"precision bf16: {name} computes in it only by way of others, and slowly; use fp32")
    if device.type == "cuda" and precision == "int8":
        raise UserError("precision int8: a GPU is not supported; use bf16 or fp32, or another device")
    if device.type == "cpu" and not supported(precision):
        raise UserError(f"precision {precision}: this processor has no instructions for it; use fp32")


def factor(values: Tensor) -> Factor:
    """Return a factor that is rounded once for several products, such as a recurrent weight, used at every step."""
    return Int8Factor(values) if COMPUTING.precision == "int8" else rounded(values)


def rounded(values: Tensor) -> Tensor:
    """Return the values rounded to bf16, or unchanged in any other precision."""
    return values if COMPUTING.factor_type is None else values.to(COMPUTING.factor_type)


def fixed(module: nn.Module) -> bool:
    """Return whether the weights of a module are constant: neither trained nor in need of gradients."""
    return not (module.training or torch.is_grad_enabled())


def cached_factor(module: nn.Module, name: str, make: Callable[[], Tensor]) -> Factor:
    """Return `factor(make())` of a module's weights: computed once if they are fixed, otherwise at each call."""
    if not fixed(module):
        return factor(make())
    made: dict[tuple[str, Precision], Factor] = module.__dict__.setdefault("_cached_factors", {})
    key = name, COMPUTING.precision
    if key not in made:
        with torch.no_grad():
            made[key] = factor(make())
    return made[key]


def product(left: Tensor, right: Factor) -> Tensor:
    """Return left @ right, (..., n) by (n, m) or batches of both. The results of `factor` are not rounded again."""
    if isinstance(right, Int8Factor):
        return right.multiply(left)
    if COMPUTING.factor_type is None:
        return left @ right
    return (rounded(left) @ rounded(right)).to(torch.float32)


def add_product(sums: Tensor, left: Tensor, right: Factor) -> None:
    """Compute sums += left @ right for matrices or batches of matrices; on a GPU in one kernel."""
    if not sums.is_cuda or rounds_factors() or isinstance(right, Int8Factor):
        sums += product(left, right)
    elif sums.dim() == 2:
        sums.addmm_(left, right)
    else:
        sums.baddbmm_(left, right)


def affine(values: Tensor, weights: Factor, bias: Tensor) -> Tensor:
    """Return values @ weights + bias: (P, n), (n, m), (m,) -> (P, m)."""
    if isinstance(weights, Tensor) and not rounds_factors():
        return torch.addmm(bias, values, weights)
    return product(values, weights) + bias
