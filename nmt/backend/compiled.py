"""Compiled steps: torch.compile makes a few kernels of the operations between two matrix products of a training update.

A GPU takes longer to start dozens of small kernels for a step than to run them. The functions marked with `fusible`
contain these operations; called with `fuse`, they run as torch.compile has made them. The equations are the same, and
the results differ in their last digits.

Little is compiled: each function once for a model. The sizes of the model and the batch are constants of the code,
except for the sizes that vary from batch to batch. No kernel is chosen by its measured time, so that equal input gives
equal bits in every process.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import click
import torch
from torch import Tensor

from nmt.errors import UserError

Kernels = Literal["auto", "torch", "compiled"]
Result = TypeVar("Result")

COMPILER_OPTIONS: dict[str, Any] = {
    "max_autotune": False,
    "triton.autotune_pointwise": False,
    "deterministic": True,
}
"""With these options, no kernel depends on measured times."""
CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"


def prepare_compiled_steps(kernels: Kernels, device: torch.device) -> bool:
    """Prepare PyTorch's compiler, and return whether training updates use compiled steps.

    With `auto`, they do on a GPU if a first small function can be compiled. If it cannot, a line on standard error says
    why. With `compiled`, this failure is a UserError.
    """
    if kernels == "torch" or (kernels == "auto" and device.type == "cpu"):
        return False

    # Try the compiler, since it may be installed without the C library's headers and then compiles nothing.
    _set_up_compiler()
    try:
        with torch.no_grad():
            _double(torch.ones(8, device=device), fuse=True)
    except Exception as error:
        problem = (
            f"nothing can be compiled here (Debian: gcc g++ libc6-dev python3-dev): {_find_reason(error)}"
        )
        if kernels == "compiled":
            raise UserError(
                f"training.kernels is `compiled`, but {problem}; mend it, or set it to `auto`"
            ) from None
        click.echo(
            f"nmt: {problem}, so updates take about half as long again (docs/gpu.md#kernels)", err=True
        )
        return False
    return True


def _set_up_compiler() -> None:
    """Set where and how PyTorch compiles."""
    # Each process compiles in a new folder. In a shared one, a process that is killed while it compiles would leave a
    # truncated library, at which every later process would fail.
    if CACHE_VARIABLE not in os.environ:
        folder = tempfile.mkdtemp(prefix="nmt-compiled-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[CACHE_VARIABLE] = folder  # before the import below, which reads it

    # With one thread, PyTorch compiles in this process. With more, it starts processes that stay until this one ends.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

    # imported here, since it takes seconds and most processes compile nothing
    import torch._dynamo

    # A process may train several models, each with sizes, precisions and shapes of its own; the default is 8.
    torch._dynamo.config.recompile_limit = 64


def _find_reason(error: Exception) -> str:
    """Return the reason from PyTorch's message: the line of the compiler's first error, or the first line."""
    # PyTorch's message may begin with "backend='inductor' raised:"
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and "raised:" not in line]
    compiler_errors = [line for line in lines if " error: " in line]
    return [*compiler_errors, *lines, type(error).__name__][0][:300]


def fusible(
    fused: Callable[..., Any] | None = None, dynamic_dims: Mapping[str, Any] = {}
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return a decorator for a function that torch.compile can make faster.

    Args:
        fused: a function with the same arguments and results that is compiled instead, since torch.compile makes better
            kernels of it. Example: `attend_fused` for `attend`.
        dynamic_dims: the arguments whose size varies from batch to batch, each with the dimension, or a tuple of
            dimensions, that varies. These arguments must be passed by keyword.

    Returns:
        The decorator. It adds an argument `fuse`: whether the function runs compiled.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @functools.cache
        def compile_function() -> Callable[..., Result]:
            return torch.compile(fused or function, fullgraph=True, dynamic=False, options=COMPILER_OPTIONS)

        @functools.wraps(function)
        def call(*arguments: Any, fuse: bool = False, **keywords: Any) -> Result:
            if not fuse:
                return function(*arguments, **keywords)
            for name, dimensions in dynamic_dims.items():
                if keywords[name] is not None:
                    torch._dynamo.maybe_mark_dynamic(keywords[name], dimensions)
            return compile_function()(*arguments, **keywords)

        return call

    return decorate


@fusible()
def _double(values: Tensor) -> Tensor:
    """Return twice the values: the first small function that `prepare_compiled_steps` compiles."""
    return values + values
