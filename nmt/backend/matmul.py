"""The backend of a model: the precision of its matrix products, and the library that computes them.

fp32: operands are not rounded. tf32: a GPU's tensor cores read 11 significant bits of 32-bit operands; nothing else is
rounded. bf16: operands are first rounded to 8 significant bits. Sums have 32 bits, also where a GPU splits them. Each
result is rounded to 8 significant bits once, before it is stored in 32 bits. int8: weights and the rows that they are
multiplied with are rounded to 8-bit integers (`nmt.backend.int8`); only for translation on a CPU. Everything else,
states included, stays in 32 bits.

On a CPU, products in 32 bits are computed by MKL (PyTorch's default) or oneDNN. MKL does not use its AVX-512 kernels on
CPUs that are not Intel's; oneDNN does (benchmarks/README.md). The choice depends on the type of the CPU and not on a
measured time, so that a machine always makes the same choice. Results differ in their last digits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import click
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.backend.int8 import Int8Weight
from nmt.errors import UserError
from nmt.io.system import read_cpu_words

Precision = Literal["fp32", "tf32", "bf16", "int8"]
MatmulLibrary = Literal["torch", "onednn"]
PreparedWeight = Tensor | Int8Weight
"""A weight in the form in which a precision multiplies with it."""

INSTRUCTIONS = {"bf16": {"avx512_bf16", "amx_bf16", "bf16"}, "int8": {"avx512_vnni", "avx_vnni"}}
"""A CPU's flags, as Linux names them, of which a precision needs one.

Without them, bf16 takes 37 times as long as fp32, and sums of two products of int8 overflow 16 bits."""
AMPERE_CAPABILITY = (8, 0)
"""The compute capability from which on tensor cores multiply TF32 and bf16."""


@dataclass(frozen=True)
class Backend:
    """How a model computes. fuse: whether training updates use compiled steps (`nmt.backend.compiled`)."""

    precision: Precision = "fp32"
    matmul_library: MatmulLibrary = "torch"
    fuse: bool = False

    def set_matmul_precision(self) -> None:
        """Set PyTorch's switches for TF32, and for oneDNN in 32 bits. They hold for the whole process.

        PyTorch uses oneDNN for products in 32 bits only if operands may be rounded to bf16. oneDNN rounds them only if
        the CPU has AMX. `choose_matmul_library` requires a CPU without AMX, and checks that products keep all digits.
        """
        is_tf32, is_onednn = self.precision == "tf32", self.matmul_library == "onednn"
        backends: Any = torch.backends

        # both switches for oneDNN, or both for TF32: some functions of PyTorch raise if they contradict each other
        if is_onednn:
            torch.set_float32_matmul_precision("medium")
        else:
            torch.set_float32_matmul_precision("high" if is_tf32 else "highest")
        backends.cuda.matmul.fp32_precision = "tf32" if is_tf32 else "ieee"
        backends.cudnn.allow_tf32 = is_tf32
        backends.mkldnn.matmul.fp32_precision = "bf16" if is_onednn else "none"

        # sums of bf16 have 32 bits, also where a GPU splits them
        backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    @property
    def is_bf16(self) -> bool:
        """Whether operands are rounded to bf16 beforehand."""
        return self.precision == "bf16"

    @property
    def fast_tanh(self) -> bool:
        """Whether `tanh_` uses the sigmoid. It does where MKL is slow (`choose_matmul_library`), if not compiled."""
        return self.matmul_library == "onednn" and not self.fuse

    def unfused(self) -> Backend:
        """Return the same backend without compiled steps."""
        return replace(self, fuse=False)

    def round_operand(self, values: Tensor) -> Tensor:
        """Return an operand rounded to bf16, or unchanged in any other precision."""
        return values.to(torch.bfloat16) if self.is_bf16 else values

    def prepare_weight(self, weight: Tensor) -> PreparedWeight:
        """Return a weight that is rounded once for several products, such as those of all steps of a scan."""
        return Int8Weight(weight) if self.precision == "int8" else self.round_operand(weight)

    def product(self, values: Tensor, weights: PreparedWeight) -> Tensor:
        """Return values @ weights, (..., n) by (n, m) or batches of both. Prepared weights are not rounded again."""
        if isinstance(weights, Int8Weight):
            return weights.multiply(values)
        if not self.is_bf16:
            return values @ weights
        multiply = multiply_bf16 if values.is_cuda else torch.matmul
        return multiply(self.round_operand(values), self.round_operand(weights)).to(torch.float32)

    def add_product(self, total: Tensor, values: Tensor, weights: PreparedWeight) -> None:
        """Compute total += values @ weights for matrices or batches of matrices; on a GPU in one kernel."""
        if not total.is_cuda or self.is_bf16 or isinstance(weights, Int8Weight):
            total += self.product(values, weights)
        elif total.dim() == 2:
            total.addmm_(values, weights)
        else:
            total.baddbmm_(values, weights)

    def affine(self, values: Tensor, weights: PreparedWeight, bias: Tensor) -> Tensor:
        """Return values @ weights + bias: (P, n), (n, m), (m,) -> (P, m)."""
        if isinstance(weights, Tensor) and not self.is_bf16:
            return torch.addmm(bias, values, weights)
        return self.product(values, weights) + bias


def multiply_bf16(values: Tensor, weights: Tensor) -> Tensor:
    """Return values @ weights of 16-bit numbers, computed with sizes that are padded to multiples of 8.

    Without padding, rows would not begin at multiples of 16 bytes, where a GPU reads several numbers at once.
    """
    product = pad_to_eights(values) @ pad_to_eights(weights)
    return product[..., : values.shape[-2], : weights.shape[-1]]


def pad_to_eights(matrix: Tensor) -> Tensor:
    """Return a matrix (..., n, m), padded with zeros so that n and m are multiples of 8."""
    added_rows, added_columns = (-size % 8 for size in matrix.shape[-2:])
    return pad(matrix, (0, added_columns, 0, added_rows)) if added_rows or added_columns else matrix


class BackendModule(nn.Module):
    """A module of a model that computes with a backend, which is the same in all modules of the model."""

    backend = Backend()

    def use_backend(self, backend: Backend) -> None:
        """Compute with this backend from now on, in all modules."""
        backend.set_matmul_precision()
        for module in self.modules():
            if isinstance(module, BackendModule):
                module.backend = backend
                module.__dict__.pop("_prepared_weights", None)

    def _load_from_state_dict(self, *arguments: Any) -> None:
        """Load the weights of this module, as `load_state_dict` asks for, and forget weights prepared earlier."""
        self.__dict__.pop("_prepared_weights", None)
        super()._load_from_state_dict(*arguments)

    @property
    def is_frozen(self) -> bool:
        """Whether the weights are constant: in evaluation mode, without gradients."""
        return not self.training and not torch.is_grad_enabled()

    def prepare_once(self, name: str, make_weight: Callable[[], Tensor]) -> PreparedWeight:
        """Return a prepared weight: computed once if the weights are frozen, otherwise at each call.

        It is computed again after `use_backend` or `load_state_dict`. Code that changes a weight in another way must
        call one of these.
        """
        if not self.is_frozen:
            return self.backend.prepare_weight(make_weight())

        prepared_weights: dict[str, PreparedWeight] = self.__dict__.setdefault("_prepared_weights", {})
        if name not in prepared_weights:
            prepared_weights[name] = self.backend.prepare_weight(make_weight())
        return prepared_weights[name]


def tanh_(values: Tensor, fast_tanh: bool) -> Tensor:
    """Compute tanh in place, with an error of at most 2e-7.

    PyTorch computes tanh by MKL. Where MKL does not use its fast kernels, its tanh takes ten times as long as PyTorch's
    own sigmoid.
    """
    if not fast_tanh or values.dtype != torch.float32 or values.is_cuda:
        return values.tanh_()
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)  # tanh(x) = 2 sigmoid(2x) - 1


# --- what a machine can do --------------------------------------------------------------------------------------------


def choose_matmul_library(
    device: torch.device, requested: Literal["auto", "torch"] = "auto"
) -> MatmulLibrary:
    """Return `onednn` on a CPU where it is faster, unless `torch` is requested."""
    has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if device.type != "cpu" or requested == "torch" or not has_mkl:
        return "torch"
    cpu_words = read_cpu_words()
    is_amd_with_avx512 = {"AuthenticAMD", "avx512f", "avx512bw"} <= cpu_words
    if is_amd_with_avx512 and "amx_tile" not in cpu_words and _onednn_keeps_all_digits():
        return "onednn"
    return "torch"


def processor_supports(precision: Precision) -> bool:
    """Return whether this machine's CPU has instructions for a precision."""
    instructions = INSTRUCTIONS.get(precision)
    return instructions is None or bool(instructions & read_cpu_words())


def check_precision(precision: Precision, device: torch.device) -> None:
    """Raise a UserError if the device cannot multiply matrices in a precision. Warn if it has no TF32."""
    if device.type == "cpu":
        if not processor_supports(precision):
            raise UserError(f"precision {precision}: this processor has no instructions for it; use fp32")
        return

    if precision == "int8":
        raise UserError("precision int8: a GPU is not supported; use bf16 or fp32, or a different device")
    if torch.cuda.get_device_capability(device) < AMPERE_CAPABILITY:
        gpu = torch.cuda.get_device_name(device)
        if precision == "bf16":
            raise UserError(
                f"precision bf16: {gpu} has no units for bf16, and would be slower than in fp32; use fp32"
            )
        if precision == "tf32":
            click.echo(f"nmt: {gpu} has no TF32: products are computed in fp32, which takes longer", err=True)


@functools.cache
def _onednn_keeps_all_digits() -> bool:
    """Return whether oneDNN keeps all 24 bits of an operand, in a product as large as those of an update."""
    values = torch.full((80, 1024), 1 + 2.0**-20)  # numbers that bf16 would round to 1
    # this sets the whole process, so it is set back below
    Backend(matmul_library="onednn").set_matmul_precision()
    try:
        return torch.equal(values @ torch.eye(1024), values)
    finally:
        Backend().set_matmul_precision()
