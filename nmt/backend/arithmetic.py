"""Portable arithmetic: kernels that give the same bits on every x86-64 processor with AVX2.

PyTorch and MKL choose their kernels by processor, and kernels differ in the last digits. Two variables of the
environment make them choose the same ones everywhere: MKL those that every processor has, and PyTorch those for AVX2.
MKL's kernels for AVX2 would be faster, but they differ between Intel's and AMD's processors. The libraries read the
variables when they are loaded, so this module does not import PyTorch.
"""

from __future__ import annotations

import os
import platform
import sys

from nmt.errors import UserError
from nmt.io.system import read_cpu_words
from nmt.settings.training import Training

PORTABLE_VARIABLES = {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "avx2"}


def prepare_arithmetic(training: Training) -> None:
    """Set the variables for this process if the settings of a training ask for portable arithmetic.

    Raises:
        UserError: the processor lacks AVX2, the settings ask for a GPU, for another precision than fp32 or for compiled
            kernels, or PyTorch is loaded already.
    """
    if training.arithmetic == "native":
        return
    problem = None
    if training.device != "cpu" or training.precision != "fp32" or training.kernels == "compiled":
        problem = "it needs `device: cpu`, `precision: fp32` and kernels that are not compiled"
    elif platform.machine() != "x86_64" or not {"avx2", "fma"} <= read_cpu_words():
        problem = "this is not an x86-64 processor with AVX2; set it to `native`"
    elif "torch" in sys.modules and not PORTABLE_VARIABLES.items() <= os.environ.items():
        variables = " ".join(f"{name}={value}" for name, value in PORTABLE_VARIABLES.items())
        problem = f"PyTorch is loaded already; set {variables} before"
    if problem:
        raise UserError(f"training.arithmetic is `portable`: {problem}")
    os.environ |= PORTABLE_VARIABLES
