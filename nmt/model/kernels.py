"""The choice of kernels for the element-wise operations between the matrix products of a training update.

`torch` are PyTorch's operations, which run on every device. `triton` fuses the operations between two products into one
GPU kernel (`nmt.model.triton_kernels`). The equations are the same, and the results differ in their last digits.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal

import torch

from nmt.errors import UserError
from nmt.model.computing import COMPUTING

Kernels = Literal["torch", "triton"]


def set_kernels(kernels: Kernels, device: torch.device) -> None:
    """Choose the kernels for the rest of this process. Raise a UserError if a requirement of `triton` is missing."""
    COMPUTING.change(fused=None)
    if kernels == "torch":
        return
    if importlib.util.find_spec("triton") is None:
        raise UserError(
            "training.kernels is `triton` but Triton is not installed; it comes with PyTorch's build with CUDA for "
            "Linux; set `kernels: torch`, or install that build"
        )
    if device.type != "cuda" and not interpreted():
        raise UserError(
            f"training.kernels is `triton`, whose kernels run on a GPU, but the device is `{device.type}`; "
            f"set `kernels: torch`, or use a GPU machine"
        )
    if not (interpreted() or _compiles_c()):
        raise UserError(
            "training.kernels is `triton`, which compiles some C where it runs, but there is no gcc, clang or Python.h"
            " (Debian: gcc libc6-dev python3-dev); install them, or set `kernels: torch`"
        )
    from nmt.model import fused

    COMPUTING.change(fused=fused)


def _compiles_c() -> bool:
    """Return whether there is a compiler for Triton's launchers."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    return bool(compiler) and Path(sysconfig.get_path("include"), "Python.h").exists()


def interpreted() -> bool:
    """Return whether Triton interprets its kernels on the CPU, which is slow and for tests."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def fused() -> ModuleType | None:
    """Return the module `nmt.model.fused` if `triton` is chosen."""
    return COMPUTING.fused


@contextmanager
def kernels_of(kernels: Kernels, device: torch.device) -> Iterator[None]:
    """Use these kernels inside a `with` block, and PyTorch's operations before and after it."""
    set_kernels(kernels, device)
    try:
        yield
    finally:
        set_kernels("torch", device)
