"""The library for 32-bit matrix products on a CPU, MKL (PyTorch's default) or oneDNN, and a replacement for MKL's tanh.

MKL does not use its AVX-512 kernels on CPUs that are not Intel's; oneDNN does. On an AMD EPYC of 2024, oneDNN was up to
twice as fast, and faster at every shape of an update. The choice depends on the type of the CPU and not on a measured
time, so that a machine always makes the same choice. Results differ in their last digits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from nmt.model.computing import COMPUTING, Products

_PROCESSOR = Path("/proc/cpuinfo")


def choose(products: Literal["auto", "torch"] = "auto") -> Products:
    """Return `onednn` where it is faster, unless the settings say `torch`."""
    with_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if products == "torch" or not with_mkl or not _PROCESSOR.exists():
        return "torch"
    words = set(_PROCESSOR.read_text(encoding="utf-8").split())
    fits = {"AuthenticAMD", "avx512f", "avx512bw"} <= words and "amx_tile" not in words
    return "onednn" if fits and _exact() else "torch"


def use(products: Products) -> None:
    """Use this library for all later products of this process."""
    COMPUTING.change(products=products)


def tanh_(values: Tensor) -> Tensor:
    """Compute tanh in place, with an error of at most 2e-7.

    PyTorch's tanh is MKL's. Where MKL does not use its fast kernels, tanh takes 2.2 ns per number, ten times as long as
    PyTorch's own sigmoid.
    """
    if (
        torch.compiler.is_compiling()
        or COMPUTING.products == "torch"
        or values.dtype != torch.float32
        or values.device.type != "cpu"
    ):
        return values.tanh_()
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)


def _exact() -> bool:
    """Return whether oneDNN keeps all 24 bits of a factor, in a product as large as those of an update."""
    values = torch.full((80, 1024), 1 + 2.0**-20)
    use("onednn")
    try:
        return torch.equal(values @ torch.eye(1024), values)
    finally:
        use("torch")
