"""Choices of this process for its computations. They are not part of a model; readers of the equations may ignore them.

precision: the precision of matrix products (`nmt.model.precision`). products: the library for matrix products on a CPU
(`nmt.model.cpu_products`). fuse: whether training updates use compiled steps (`nmt.model.compiled`).
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import torch

Precision = Literal["fp32", "tf32", "bf16", "int8"]
Products = Literal["torch", "onednn"]


OWN_PRECISION: ContextVar[Precision | None] = ContextVar("OWN_PRECISION", default=None)
"""The precision of the model that translates in this thread; None: that of the process."""


@dataclass
class Computing:
    """The choices of this process; `change` replaces them."""

    process_precision: Precision = "fp32"
    products: Products = "torch"
    fuse: bool = False

    @property
    def precision(self) -> Precision:
        """The precision of products in this thread."""
        return OWN_PRECISION.get() or self.process_precision

    @property
    def factor_type(self) -> torch.dtype | None:
        """The type to which factors are rounded beforehand."""
        return torch.bfloat16 if self.precision == "bf16" else None

    def change(self, **choices: Any) -> None:
        """Change choices, and set PyTorch's own switches consistently, since some of its functions raise otherwise.

        If PyTorch may round the factors of 32-bit products, it hands the products to oneDNN, which rounds only with AMX
        instructions. `cpu_products.choose` requires a CPU without them, and checks that products keep all digits.
        """
        vars(self).update(choices)
        tf32, onednn = self.process_precision == "tf32", self.products == "onednn"
        torch.set_float32_matmul_precision("medium" if onednn else "high" if tf32 else "highest")
        backends: Any = torch.backends
        backends.cuda.matmul.fp32_precision = "tf32" if tf32 else "ieee"
        backends.cudnn.allow_tf32 = tf32
        backends.mkldnn.matmul.fp32_precision = "bf16" if onednn else "none"
        backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


COMPUTING = Computing()
