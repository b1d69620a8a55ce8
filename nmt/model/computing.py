"""How this process computes, where that is no part of a model: one object, which a reader of the equations may ignore.

precision: of matrix products (`nmt.model.precision`). products: who makes those of a processor
(`nmt.model.cpu_products`). fused: the kernels between them that take the place of PyTorch's (`nmt.model.kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import torch

Precision = Literal["fp32", "tf32", "bf16", "int8"]
Products = Literal["torch", "onednn"]


@dataclass
class Computing:
    """The choices of this process; `change` makes others."""

    precision: Precision = "fp32"
    products: Products = "torch"
    fused: ModuleType | None = None

    @property
    def factor_type(self) -> torch.dtype | None:
        """What factors are rounded to beforehand."""
        return torch.bfloat16 if self.precision == "bf16" else None

    def change(self, **choices: Any) -> None:
        """Make choices, and set PyTorch's own switches so that they fit each other, or some of its functions raise.

        PyTorch hands 32-bit products to oneDNN when it may round their factors, which oneDNN only does with AMX
        instructions: `cpu_products.choose` asks for none, and for all digits of a product.
        """
        vars(self).update(choices)
        tf32, onednn = self.precision == "tf32", self.products == "onednn"
        torch.set_float32_matmul_precision("medium" if onednn else "high" if tf32 else "highest")
        backends: Any = torch.backends
        backends.cuda.matmul.fp32_precision = "tf32" if tf32 else "ieee"
        backends.cudnn.allow_tf32 = tf32
        backends.mkldnn.matmul.fp32_precision = "bf16" if onednn else "none"
        backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


COMPUTING = Computing()
