"""Which library makes a processor's products in 32 bits: what PyTorch takes, MKL, or oneDNN, which PyTorch brings, too;
and what to take instead of its tanh.

MKL withholds its AVX-512 kernels from processors that are not Intel's; oneDNN does not. On an AMD EPYC of 2024 it was
faster at every shape of an update, up to twice, so that the processor decides, and no clock: the same machine always
makes the same choice. Results differ in their last digits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from nmt.model.computing import COMPUTING, Products

_PROCESSOR = Path("/proc/cpuinfo")


def choose(products: Literal["auto", "torch"] = "auto") -> Products:
    """`onednn` where it is faster, unless the settings say `torch`."""
    with_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if products == "torch" or not with_mkl or not _PROCESSOR.exists():
        return "torch"
    words = set(_PROCESSOR.read_text(encoding="utf-8").split())
    fits = {"AuthenticAMD", "avx512f", "avx512bw"} <= words and "amx_tile" not in words
    return "onednn" if fits and _exact() else "torch"


def use(products: Products) -> None:
    """Have all products that follow in this process made so."""
    COMPUTING.change(products=products)


def tanh_(values: Tensor) -> Tensor:
    """tanh in place, to 2e-7.

    MKL makes it, too, and where it withholds its kernels takes ten times as long as PyTorch's own sigmoid, 2.2 ns each.
    """
    if COMPUTING.products == "torch" or values.dtype != torch.float32 or values.device.type != "cpu":
        return values.tanh_()
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)


def _exact() -> bool:
    """Whether oneDNN keeps all 24 bits of a factor, in a product as large as those of an update."""
    values = torch.full((80, 1024), 1 + 2.0**-20)
    use("onednn")
    try:
        return torch.equal(values @ torch.eye(1024), values)
    finally:
        use("torch")
