"""The device of a model, reproducible computation, and memory.

A GPU that is there but cannot be used is an error: on the CPU, a job would take days instead of hours.

An update at the paper's sizes allocates and frees some gigabytes in tensors of many megabytes. By default, the C
library returns such blocks to the system immediately, and the system clears every page again: a twelfth of an update's
time on two cores.
"""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache

import click
import torch

from nmt.backend import gpu_pool
from nmt.errors import PermanentError, UserError

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)
MAX_THRESHOLD = 2**31 - 1
OLD_MAX_MMAP_THRESHOLD = 2**25
"""Older versions of glibc refuse a larger MMAP_THRESHOLD."""

OVERRIDES = {
    "cpu": ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"),
    "cuda": ("NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "TORCHINDUCTOR_USE_FAST_MATH"),
}
"""Environment variables that decide over precision in a device's libraries, whatever a program says."""

OUT_OF_MEMORY_MESSAGES = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDA error: out of memory",
)


def choose_device(name: str, announce: bool = True) -> torch.device:
    """Return the device for the setting `device`: auto, cpu or cuda. `auto` takes a GPU if there is one.

    In a pool of GPUs, the first free one is taken. With `announce`, the device that `auto` takes is printed.

    Raises:
        UserError: PyTorch cannot use the GPU that `cuda` asks for, or sees no GPU where `auto` finds signs of one.
    """
    gpu_pool.reserve_gpu(name)
    device = torch.device("cpu")
    if name != "cpu" and torch.cuda.is_available():
        _check_gpu()
        device = torch.device("cuda")
    elif name == "cuda" or (name == "auto" and gpu_pool.has_gpu_evidence()):
        raise UserError(
            f"device is `{name}`: torch {torch.__version__} (CUDA: {torch.version.cuda}) sees no GPU; "
            f"docs/cluster.md#gpus says what fits; to compute on the processor, set `device: cpu` (--device cpu)"
        )
    _check_overrides(device)
    if name == "auto" and announce:
        click.echo(f"nmt: computes on {device_name(device)}", err=True)
    return device


def _check_overrides(device: torch.device) -> None:
    """Raise a UserError if an environment variable makes the device's libraries ignore the setting `precision`."""
    for name in OVERRIDES[device.type]:
        value = os.environ.get(name)
        if value:
            raise UserError(f"{name}={value} changes what a precision means behind the settings; unset it")


def _check_gpu() -> None:
    """Raise a UserError if PyTorch cannot use the GPU, for example because its build has no kernels for this GPU."""
    try:
        torch.ones(1, device="cuda").add_(1).item()
    except RuntimeError as error:
        raise UserError(
            f"{torch.cuda.get_device_name()}: torch {torch.__version__} cannot compute on it: {_first_line(error)}; "
            f"docs/cluster.md#gpus says which build fits, or use a different GPU"
        ) from None


def find_out_of_memory_error(error: BaseException) -> PermanentError | None:
    """Return the error to report if `error` means that the memory is full, or None if it means something else.

    If the memory becomes full while a CUDA graph is captured, the end of the capture raises another error, which hides
    the first one. So the earlier errors (`__context__`) are examined, too.
    """
    is_out_of_memory = isinstance(error, torch.OutOfMemoryError) or any(
        message in str(error) for message in OUT_OF_MEMORY_MESSAGES
    )
    if is_out_of_memory:
        # PyTorch's message goes on with "Of the allocated memory 1.2 GiB is allocated by PyTorch, and ..."
        reason = _first_line(error).partition(" Of the allocated")[0]
        return PermanentError(
            f"out of memory: {reason}; lower the batch size, or training.cuda_graph_max_words of a training on "
            f"a GPU, or use a device with more (docs/gpu.md#memory)"
        )
    previous_error = error.__context__
    if isinstance(previous_error, RuntimeError):
        return find_out_of_memory_error(previous_error)
    return None


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return str(error).partition("\n")[0]


def device_name(device: torch.device) -> str:
    """Return the name of the GPU, or the architecture of the CPU with the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU ({platform.machine()}, {threads} thread{'s' if threads > 1 else ''})"


_is_forked = False
"""Whether this process was forked from one that may have computed with several threads."""


def _use_one_thread() -> None:
    """Let a forked process compute with one thread.

    OpenMP's other threads are not copied by a fork, so the process would wait for them for ever.
    """
    global _is_forked
    _is_forked = True
    torch.set_num_threads(1)


@cache
def _prepare_for_forks() -> None:
    """Let each process that is forked from this one use one thread, as the workers of a web server do."""
    os.register_at_fork(after_in_child=_use_one_thread)


def make_deterministic(threads: int) -> None:
    """Make PyTorch compute the same bits for the same seed and machine, with this number of CPU threads.

    Processes that are forked from this one later have one thread.
    """
    _prepare_for_forks()
    # With cuBLAS' usual workspace, a GPU's products may differ from run to run.
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.set_num_threads(1 if _is_forked else threads)

    # Use deterministic operations. "warn" warns of one that has no deterministic version.
    # use_deterministic_algorithms would import torch's compiler, which takes seconds.
    torch.set_deterministic_debug_mode("warn")

    # All memory from `empty` is written before it is read, so filling it first would only cost time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def keep_freed_memory() -> None:
    """Let glibc keep freed memory for the next update, by its largest thresholds. Without glibc, do nothing.

    glibc adjusts MMAP_THRESHOLD and TRIM_THRESHOLD itself until a program sets one of them. If only TRIM_THRESHOLD was
    set, MMAP_THRESHOLD would stay at 128 kB, and all larger blocks would be taken from the system at each use. So
    TRIM_THRESHOLD is only set if glibc has accepted a MMAP_THRESHOLD.
    """
    if platform.libc_ver()[0] == "glibc":
        mallopt = ctypes.CDLL(None).mallopt
        # mallopt returns 0 for a value that it refuses. Older versions of glibc refuse MAX_THRESHOLD here.
        if mallopt(MMAP_THRESHOLD, MAX_THRESHOLD) or mallopt(MMAP_THRESHOLD, OLD_MAX_MMAP_THRESHOLD):
            mallopt(TRIM_THRESHOLD, MAX_THRESHOLD)


def give_back_freed_memory() -> None:
    """Return kept memory to the system. After batches of many lengths, much of it is in blocks that are too small."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
