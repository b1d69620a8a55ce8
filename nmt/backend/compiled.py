"""Compiled steps: torch.compile makes a few kernels of the operations between two matrix products of a training update.

A GPU takes longer to start dozens of small kernels for a step than to run them. The functions marked with `fusible`
contain these operations; called with `fuse`, they run as torch.compile has made them. The equations are the same, and
the results differ in their last digits.

Little is compiled: each function once for a model. The sizes of the model and the batch are constants of the code,
except for the sizes that vary from batch to batch. No kernel is chosen by its measured time, so that equal input gives
equal bits in every process.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click
import torch
from torch import Tensor

from nmt.errors import UserError

Kernels = Literal["auto", "torch", "compiled"]

COMPILER_OPTIONS: dict[str, Any] = {
    "max_autotune": False,
    "triton.autotune_pointwise": False,
    "deterministic": True,
}
"""With these options, no kernel depends on measured times."""
CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
UNFINISHED = "unfinished"
"""The file that the cache folder has while a process compiles."""
TRITON_CAPABILITY = (7, 0)
"""The lowest compute capability for which Triton, which makes a GPU's kernels, compiles."""

_cache: Path | None = None
"""The folder of the code that this process compiles, if it belongs to the training's state."""


def prepare_compiled_steps(kernels: Kernels, device: torch.device, cache: Path | None = None) -> bool:
    """Prepare PyTorch's compiler, and return whether training updates use compiled steps.

    `auto` compiles on a GPU if a first small function can be compiled, and says in a line if it cannot. `cache` is the
    folder where compiled code is kept.

    Raises:
        UserError: for `compiled`, if nothing can be compiled; in any case, if the folder was damaged.
    """
    if kernels == "torch" or (kernels == "auto" and device.type == "cpu"):
        return False
    problem = _find_gpu_problem(device) or _find_compiler_problem(device, cache)
    if problem and kernels == "compiled":
        raise UserError(f"training.kernels is `compiled`, but {problem}; mend it, or set it to `auto`")
    if problem:
        click.echo(
            f"nmt: {problem}, so updates take about half as long again (docs/gpu.md#kernels)", err=True
        )
    return problem is None


def _find_gpu_problem(device: torch.device) -> str | None:
    """Return why no Triton kernel runs on this GPU, if it is too old."""
    if device.type == "cpu" or torch.cuda.get_device_capability(device) >= TRITON_CAPABILITY:
        return None
    return f"{torch.cuda.get_device_name(device)} is too old for compiled kernels"


def _find_compiler_problem(device: torch.device, cache: Path | None) -> str | None:
    """Compile a small function, and return in a line why this fails, if it does.

    Only trying shows that a compiler works: without the C library's headers, it is there and compiles nothing.
    """
    has_earlier_code = _set_up_compiler(cache)
    try:
        with torch.no_grad():
            _double(torch.ones(8, device=device), fuse=True)
    except Exception as error:
        if has_earlier_code:
            raise _discard_cache(error) from None
        return f"nothing can be compiled here (Debian: gcc g++ libc6-dev python3-dev): {_find_reason(error)}"
    return None


def _set_up_compiler(cache: Path | None) -> bool:
    """Set where and how PyTorch compiles. Return whether `cache` has code of an earlier process."""
    global _cache

    # A process that is killed while it compiles leaves a truncated library, at which every later one would fail.
    if cache is not None and (cache / UNFINISHED).exists():
        shutil.rmtree(cache)

    # Set before the import below, which sets the folder, too. A folder that the user has set is not ours to empty.
    if cache is not None and CACHE_VARIABLE not in os.environ:
        os.environ[CACHE_VARIABLE] = str(cache)
        _cache = cache

    # With one thread, this process compiles itself; otherwise worker processes would stay until the end.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

    # imported here, since it takes seconds and most processes compile nothing
    import torch._dynamo
    import torch._inductor

    # A process may train several models, each with sizes, precisions and shapes of its own; the default is 8.
    torch._dynamo.config.recompile_limit = 64
    return _cache is not None and any(_cache.glob("*"))


def _discard_cache(error: Exception) -> UserError:
    """Remove compiled code that may be damaged. Return the error to raise if compiling fails although it has worked."""
    if _cache is not None:
        shutil.rmtree(_cache, ignore_errors=True)
    return UserError(
        f"steps of the training could not be compiled ({_find_reason(error)}). Code that was compiled earlier may be "
        f"damaged, and is now deleted: start again, or set training.kernels to `torch`, which changes no model"
    )


def _find_reason(error: Exception) -> str:
    """Return the line of PyTorch's message that says what is wrong: the compiler's first error, or the first line."""
    stripped_lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in stripped_lines if line and "raised:" not in line]
    compiler_errors = [line for line in lines if re.search(r"\berror: ", line)]
    candidates = compiler_errors + lines + [type(error).__name__]
    return candidates[0][:300]


def _compile_graph(graph: Any, inputs: Any) -> Any:
    """Compile a function that torch.compile has read; a file tells the next process if this one is killed meanwhile."""
    if _cache is None:
        return torch._inductor.compile(graph, inputs, options=COMPILER_OPTIONS)
    mark = _cache / UNFINISHED
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    compiled = torch._inductor.compile(graph, inputs, options=COMPILER_OPTIONS)
    mark.unlink(missing_ok=True)
    return compiled


def fusible(
    fused: Callable[..., Any] | None = None, **varying_dimensions: int | tuple[int, ...]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function that torch.compile can make faster.

    Args:
        fused: a function with the same arguments and results, which is compiled in place of the function, since
            torch.compile makes better kernels of it. Example: `attend_fused` for `attend`.
        varying_dimensions: for each argument whose size varies from batch to batch, the dimension or dimensions.

    Returns:
        The function with an additional argument `fuse`, which says whether it runs compiled.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names = list(inspect.signature(function).parameters)

        @functools.cache
        def compile_function() -> Callable[..., Any]:
            return torch.compile(fused or function, fullgraph=True, dynamic=False, backend=_compile_graph)

        @functools.wraps(function)
        def call(*arguments: Any, fuse: bool = False, **keywords: Any) -> Any:
            if not fuse:
                return function(*arguments, **keywords)
            # give each positional argument its name
            values = dict(zip(names, arguments, strict=False)) | keywords
            for name, dimensions in varying_dimensions.items():
                if values[name] is not None:
                    torch._dynamo.maybe_mark_dynamic(values[name], dimensions)
            try:
                return compile_function()(**values)
            except torch._dynamo.exc.TorchDynamoException as error:
                raise _discard_cache(error) from None

        return call

    return decorate


@fusible()
def _double(values: Tensor) -> Tensor:
    return values + values
