"""The backend of a model: the precision of its matrix products, and the library that computes them.

fp32: factors are not rounded. tf32: a GPU's tensor cores read 11 significant bits of 32-bit factors; nothing else is
rounded. bf16: factors are first rounded to 8 significant bits. Sums have 32 bits, also where a GPU splits them. Each
result is rounded to 8 significant bits once, before it is stored in 32 bits. int8: weights and the rows that they are
multiplied with are rounded to 8-bit integers; only for translation on a CPU. Everything else, states included, stays
in 32 bits.

On a CPU, products in 32 bits are computed by MKL (PyTorch's default) or oneDNN. MKL does not use its AVX-512 kernels on
CPUs that are not Intel's; oneDNN does. On an AMD EPYC of 2024, oneDNN was up to twice as fast, and faster at every
shape of an update. The choice depends on the type of the CPU and not on a measured time, so that a machine always makes
the same choice. Results differ in their last digits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import click
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.errors import UserError

Precision = Literal["fp32", "tf32", "bf16", "int8"]
MatmulLibrary = Literal["torch", "onednn"]

INSTRUCTIONS = {"bf16": {"avx512_bf16", "amx_bf16", "bf16"}, "int8": {"avx512_vnni", "avx_vnni"}}
"""A CPU's flags, as Linux names them, of which a precision takes one.

Without them, bf16 takes 37 times as long as fp32, and sums of two products of int8 overflow 16 bits."""
AMPERE = (8, 0)
"""The compute capability from which on tensor cores multiply TF32 and bf16."""
PROCESSOR = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Backend:
    """How a model computes. fuse: whether training updates use compiled steps (`nmt.backend.compiled`)."""

    precision: Precision = "fp32"
    matmul_library: MatmulLibrary = "torch"
    fuse: bool = False

    def set_switches(self) -> None:
        """Set PyTorch's own switches, which are those of the whole process: for TF32, and for oneDNN in 32 bits.

        They are set consistently, since some of PyTorch's functions raise otherwise. If PyTorch may round the factors
        of 32-bit products, it hands the products to oneDNN, which rounds only with AMX instructions.
        `choose_matmul_library` requires a CPU without them, and checks that products keep all digits.
        """
        tf32, onednn = self.precision == "tf32", self.matmul_library == "onednn"
        torch.set_float32_matmul_precision("medium" if onednn else "high" if tf32 else "highest")
        backends: Any = torch.backends
        backends.cuda.matmul.fp32_precision = "tf32" if tf32 else "ieee"
        backends.cudnn.allow_tf32 = tf32
        backends.mkldnn.matmul.fp32_precision = "bf16" if onednn else "none"
        backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    @property
    def rounds(self) -> bool:
        """Whether factors are rounded beforehand. A library's recurrence would round its states, too."""
        return self.precision == "bf16"

    @property
    def by_sigmoid(self) -> bool:
        """Whether `tanh_` uses the sigmoid, since MKL's tanh is as slow as its products. Compiled steps do not."""
        return self.matmul_library == "onednn" and not self.fuse

    def unfused(self) -> Backend:
        """Return the same backend without compiled steps."""
        return replace(self, fuse=False)

    def rounded(self, values: Tensor) -> Tensor:
        """Return the values rounded to bf16, or unchanged in any other precision."""
        return values.to(torch.bfloat16) if self.rounds else values

    def prepare_weight(self, weight: Tensor) -> Factor:
        """Return a weight that is rounded once for several products, such as a recurrent one, used at every step."""
        return Int8Weight(weight) if self.precision == "int8" else self.rounded(weight)

    def product(self, left: Tensor, right: Factor) -> Tensor:
        """Return left @ right, (..., n) by (n, m) or batches of both. Prepared weights are not rounded again."""
        if isinstance(right, Int8Weight):
            return right.multiply(left)
        if not self.rounds:
            return left @ right
        product = bf16_product if left.is_cuda else torch.matmul
        return product(self.rounded(left), self.rounded(right)).to(torch.float32)

    def add_product(self, sums: Tensor, left: Tensor, right: Factor) -> None:
        """Compute sums += left @ right for matrices or batches of matrices; on a GPU in one kernel."""
        if not sums.is_cuda or self.rounds or isinstance(right, Int8Weight):
            sums += self.product(left, right)
        elif sums.dim() == 2:
            sums.addmm_(left, right)
        else:
            sums.baddbmm_(left, right)

    def affine(self, values: Tensor, weights: Factor, bias: Tensor) -> Tensor:
        """Return values @ weights + bias: (P, n), (n, m), (m,) -> (P, m)."""
        if isinstance(weights, Tensor) and not self.rounds:
            return torch.addmm(bias, values, weights)
        return self.product(values, weights) + bias


def bf16_product(left: Tensor, right: Tensor) -> Tensor:
    """Return left @ right of 16-bit numbers, with sizes that are multiples of 8.

    Otherwise, rows would not begin at multiples of 16 bytes, where a GPU reads several numbers at once.
    """
    product = pad_to_eights(left) @ pad_to_eights(right)
    return product[..., : left.shape[-2], : right.shape[-1]]


def pad_to_eights(matrix: Tensor) -> Tensor:
    """Return a matrix (..., n, m) with both sizes raised to a multiple of 8 by zeros, if they are not multiples."""
    rows, columns = (-size % 8 for size in matrix.shape[-2:])
    return pad(matrix, (0, columns, 0, rows)) if rows or columns else matrix


class Module(nn.Module):
    """A part of a model. `backend` is the same in all parts."""

    backend = Backend()

    def use_backend(self, backend: Backend) -> None:
        """Compute with this backend from now on, in all parts."""
        backend.set_switches()
        for part in self.modules():
            if isinstance(part, Module):
                part.backend = backend
                part.__dict__.pop("_prepared", None)

    def _load_from_state_dict(self, *arguments: Any) -> None:
        """Load weights, for `load_state_dict`, which calls this for each part. Prepared ones are those of before."""
        self.__dict__.pop("_prepared", None)
        super()._load_from_state_dict(*arguments)

    @property
    def fixed(self) -> bool:
        """Whether the weights are constant: neither trained nor in need of gradients."""
        return not (self.training or torch.is_grad_enabled())

    def prepared_weight(self, name: str, make: Callable[[], Tensor]) -> Factor:
        """Return the factor of a weight: computed once if the weights are fixed, otherwise at each call.

        Once means until `use_backend` or `load_state_dict`; a weight that is changed in another way needs one of these.
        """
        if not self.fixed:
            return self.backend.prepare_weight(make())
        prepared: dict[str, Factor] = self.__dict__.setdefault("_prepared", {})
        if name not in prepared:
            with torch.no_grad():
                prepared[name] = self.backend.prepare_weight(make())
        return prepared[name]


def tanh_(values: Tensor, by_sigmoid: bool) -> Tensor:
    """Compute tanh in place, with an error of at most 2e-7.

    PyTorch's tanh is MKL's. Where MKL does not use its fast kernels, tanh takes 2.2 ns per number, ten times as long as
    PyTorch's own sigmoid.
    """
    if not by_sigmoid or values.dtype != torch.float32 or values.is_cuda:
        return values.tanh_()
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)


# --- what a machine can do --------------------------------------------------------------------------------------------


def choose_matmul_library(device: torch.device, wanted: Literal["auto", "torch"] = "auto") -> MatmulLibrary:
    """Return `onednn` on a CPU where it is faster, unless `torch` is wanted."""
    with_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if device.type != "cpu" or wanted == "torch" or not with_mkl:
        return "torch"
    words = _words_of_processor()
    fits = {"AuthenticAMD", "avx512f", "avx512bw"} <= words and "amx_tile" not in words
    return "onednn" if fits and _exact() else "torch"


def processor_supports(precision: Precision) -> bool:
    """Return whether this machine's processor has instructions for a precision."""
    return precision not in INSTRUCTIONS or not INSTRUCTIONS[precision].isdisjoint(_words_of_processor())


def check_precision(precision: Precision, device: torch.device) -> None:
    """Raise a UserError for a precision that the device has no products for, and say where `tf32` rounds nothing."""
    if device.type == "cuda" and torch.cuda.get_device_capability(device) < AMPERE:
        name = torch.cuda.get_device_name(device)
        if precision == "bf16":
            raise UserError(
                f"precision bf16: {name} computes in it only by way of others, and slowly; use fp32"
            )
        if precision == "tf32":
            click.echo(
                f"nmt: {name} has no TF32: products are computed in fp32, which takes longer", err=True
            )
    if device.type == "cuda" and precision == "int8":
        raise UserError("precision int8: a GPU is not supported; use bf16 or fp32, or another device")
    if device.type == "cpu" and not processor_supports(precision):
        raise UserError(f"precision {precision}: this processor has no instructions for it; use fp32")


def _words_of_processor() -> set[str]:
    return set(PROCESSOR.read_text(encoding="utf-8").split()) if PROCESSOR.exists() else set()


@functools.cache
def _exact() -> bool:
    """Return whether oneDNN keeps all 24 bits of a factor, in a product as large as those of an update."""
    values = torch.full((80, 1024), 1 + 2.0**-20)
    Backend(matmul_library="onednn").set_switches()
    try:
        return torch.equal(values @ torch.eye(1024), values)
    finally:
        Backend().set_switches()


# --- int8 -------------------------------------------------------------------------------------------------------------

LARGEST = 127
ZERO = 128
"""Shift of the rows, since oneDNN multiplies unsigned rows with signed weights."""


class Int8Weight:
    """An 8-bit replacement of a weight (n, m), or (D, n, m) for batched products, by oneDNN's integer kernels.

    Each column of a weight has a scale, and so has each row that the weight is multiplied with: the largest magnitude
    becomes 127. The sums are exact, so the result of a row does not depend on the other rows of its batch.
    """

    def __init__(self, weight: Tensor) -> None:
        self.stacked = weight.dim() == 3
        self.parts = [_packed(part) for part in (weight if self.stacked else [weight])]

    def multiply(self, rows: Tensor) -> Tensor:
        """Return rows @ weight in 32 bits: (..., n) -> (..., m), or (D, R, n) -> (D, R, m)."""
        if self.stacked:
            pairs = zip(rows, self.parts, strict=True)
            return torch.stack([_int8_product(some, *part) for some, part in pairs])
        return _int8_product(rows.reshape(-1, rows.shape[-1]), *self.parts[0]).view(*rows.shape[:-1], -1)


Factor = Tensor | Int8Weight
"""A weight as it is multiplied with."""


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


def _int8_product(rows: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor) -> Tensor:
    own = _scales(rows, dim=1).unsqueeze(1)
    whole = (rows / own).add_(ZERO + 0.5).to(torch.uint8)  # cut off, which rounds
    found: Tensor = torch.ops.onednn.qlinear_pointwise(
        whole, 1.0, ZERO, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return found.mul_(own)
