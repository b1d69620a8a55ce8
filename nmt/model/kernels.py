"""Who does the element-wise work between the matrix products of a training update: PyTorch's operations or own kernels.

`torch` is what a processor runs and what every device can run. `triton` joins what happens between two products into
one kernel for a GPU (`nmt.model.triton_kernels`): the same equations, but their last digits.
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
    """Choose for all that follows in this process; a UserError says what `triton` lacks."""
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
    """Whether there is what Triton's launchers are compiled with."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    return bool(compiler) and Path(sysconfig.get_path("include"), "Python.h").exists()


def interpreted() -> bool:
    """Whether Triton interprets its kernels on the processor: slow, and for tests."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def fused() -> ModuleType | None:
    """The module `nmt.model.fused` where `triton` is chosen."""
    return COMPUTING.fused


@contextmanager
def kernels_of(kernels: Kernels, device: torch.device) -> Iterator[None]:
    """The kernels inside a `with` block; before and after it PyTorch's."""
    set_kernels(kernels, device)
    try:
        yield
    finally:
        set_kernels("torch", device)
