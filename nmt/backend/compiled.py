"""Fused steps: torch.compile makes a few kernels of the operations between two matrix products of a training update.

A GPU takes longer to start dozens of small kernels for a step than to run them. The functions marked with `fusible`
contain these operations; called with `fuse`, they run as torch.compile has made them. The equations are the same, and
the results differ in their last digits. Where a kernel is better written in another way,
`torch.compiler.is_compiling()` tells that torch.compile reads the function.

What is compiled is little and bounded: each function once for a model, with the sizes of the model and the batch as
constants, but for the one size that varies from batch to batch. No kernel is chosen by its measured time, so that equal
input gives equal bits in every process.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click
import torch

from nmt.errors import UserError

Kernels = Literal["auto", "torch", "compiled"]

OPTIONS: dict[str, str | int | bool | Callable[..., Any]] = {
    "max_autotune": False,
    "triton.autotune_pointwise": False,
    "deterministic": True,
}
"""So that no kernel depends on measured times."""


def will_fuse(kernels: Kernels, device: torch.device, cache: Path | None = None) -> bool:
    """Return whether training updates use compiled steps, and prepare PyTorch's compiler for them.

    `auto` compiles on a GPU if there is what it takes, and says in a line if there is not. `cache` is the folder where
    what is compiled is kept.

    Raises:
        UserError: for `compiled`, if something that it takes is missing.
    """
    fuse = kernels == "compiled" or (kernels == "auto" and device.type == "cuda")
    missing = _missing(device) if fuse else None
    if missing and kernels == "compiled":
        raise UserError(
            f"training.kernels is `compiled`, but there is {missing}; install it, or set it to `auto`"
        )
    if missing:
        click.echo(
            f"nmt: there is {missing}, so updates take about half as long again (docs/gpu.md#kernels)",
            err=True,
        )
    if not fuse or missing:
        return False
    # here and not in workers, which would stay until the end
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch._dynamo  # not above: it takes long, and translation does without

    # a process may train several models, each with sizes, precisions and shapes of its own; the default is 8
    torch._dynamo.config.recompile_limit = 64
    if cache is not None:
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache))
    return True


def _missing(device: torch.device) -> str | None:
    """Return what torch.compile lacks for this device, if anything."""
    if device.type == "cpu":
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
        return None if compiler else "no C++ compiler"
    if importlib.util.find_spec("triton") is None:
        return "no Triton, which comes with PyTorch's build for Linux"
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if compiler and Path(sysconfig.get_path("include"), "Python.h").exists():
        return None
    return "no C compiler or Python.h (Debian: gcc libc6-dev python3-dev)"


def fusible(**varying: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function that torch.compile can make faster.

    Args:
        varying: arguments with the dimension whose size varies from batch to batch.

    Returns:
        The function with another argument, `fuse`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names = list(inspect.signature(function).parameters)
        places = [(names.index(name), dimension) for name, dimension in varying.items()]
        compiled = functools.cache(
            lambda: torch.compile(function, fullgraph=True, dynamic=False, options=OPTIONS)
        )

        @functools.wraps(function)
        def call(*arguments: Any, fuse: bool = False) -> Any:
            if not fuse:
                return function(*arguments)
            for place, dimension in places:
                if arguments[place] is not None:
                    torch._dynamo.maybe_mark_dynamic(arguments[place], dimension)
            return compiled()(*arguments)

        return call

    return decorate
