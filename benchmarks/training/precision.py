"""The precision of matrix products, for the contenders that know nothing of the project's setting of that name.

fp32: as they are, also in cuDNN, which would use TF32 unasked. tf32: a GPU's tensor cores read 32-bit factors with 10
bits of mantissa. bf16: torch's autocast, and 16-bit factors in the products that give the machine's rate.
"""

from __future__ import annotations

import torch

from benchmarks.training.sizes import Machine


def choose(machine: Machine) -> None:
    """For all products of this process; call before any is made."""
    tf32 = machine.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32


def autocast(machine: Machine) -> torch.autocast:
    """For a forward pass and its loss; does nothing unless the precision is bf16."""
    return torch.autocast(machine.device, dtype=torch.bfloat16, enabled=machine.precision == "bf16")


def factor_type(machine: Machine) -> torch.dtype:
    """Of the factors of a bare product."""
    return torch.bfloat16 if machine.precision == "bf16" else torch.float32
