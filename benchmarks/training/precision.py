"""The precision of matrix products, for contenders that do not use the project's setting `training.precision`.

fp32: all bits, also in cuDNN, whose default is TF32. tf32: a GPU's tensor cores read 32-bit factors with 10 bits of
mantissa. bf16: torch's autocast, and 16-bit factors in the products that give the machine's rate.
"""

from __future__ import annotations

import torch

from benchmarks.training.sizes import Machine


def choose(machine: Machine) -> None:
    """Set the precision of all products of this process. It must be called before the first product."""
    tf32 = machine.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32


def autocast(machine: Machine) -> torch.autocast:
    """Return a context for a forward pass and its loss. It changes nothing unless the precision is bf16."""
    return torch.autocast(machine.device, dtype=torch.bfloat16, enabled=machine.precision == "bf16")


def factor_type(machine: Machine) -> torch.dtype:
    """Return the type of the factors in a product without a model."""
    return torch.bfloat16 if machine.precision == "bf16" else torch.float32
