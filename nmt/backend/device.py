"""The device of a model, reproducible computation, and memory.

A GPU that is there but cannot be used is an error: on the CPU, a job would take days instead of hours.

An update at the paper's sizes allocates and frees some gigabytes in tensors of many megabytes. By default, the C
library returns such blocks to the system at once, and the system clears every page again: a twelfth of an update's time
on two cores.
"""

from __future__ import annotations

import ctypes
import os
import platform

import click
import torch

from nmt.backend import gpu_pool
from nmt.errors import RecurringError, UserError

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_LARGEST = 2**31 - 1
_LARGEST_BEFORE = 2**25
"""Maximum of M_MMAP_THRESHOLD in older versions of glibc, which refuse a larger value."""

OVERRIDES = {
    "cpu": ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"),
    "cuda": ("NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "TORCHINDUCTOR_USE_FAST_MATH"),
}
"""Variables of the environment that decide over precision in a device's libraries, whatever a program says."""

_REMEDY = "lower its batch size, or use a device with more (docs/gpu.md#memory)"
_OUT_OF_MEMORY = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDA error: out of memory",
)


def choose_device(name: str, announced: bool = True) -> torch.device:
    """Return the device for a value of the settings. `auto` takes a GPU if there is one, a free one of a pool.

    If `announced`, print the device that `auto` takes. Raises UserError for a GPU that PyTorch cannot use: with `cuda`,
    and with `auto` if there are other signs of a GPU.
    """
    gpu_pool.reserve_gpu(name)
    device = torch.device("cpu")
    if name != "cpu" and torch.cuda.is_available():
        _refuse_unusable()
        device = torch.device("cuda")
    elif name == "cuda" or (name == "auto" and gpu_pool.has_gpu_evidence()):
        raise UserError(_unseen(name))
    _refuse_overrides(device)
    if name == "auto" and announced:
        click.echo(f"nmt: computes on {device_name(device)}", err=True)
    return device


def _unseen(name: str) -> str:
    """Return the message for a GPU that PyTorch does not find, which itself warns of a driver that is too old."""
    build = torch.version.cuda
    reason = (
        f"nvidia-smi shows whether its driver has CUDA {build}" if build else "it is a build without CUDA"
    )
    remedy = (
        "docs/cluster.md#gpus says what fits; to compute on the processor, set `device: cpu` (--device cpu)"
    )
    return f"device is `{name}`: torch {torch.__version__} sees no GPU: {reason}; {remedy}"


def _refuse_overrides(device: torch.device) -> None:
    """Raise a UserError for a variable that makes the device's libraries round otherwise than `precision` says."""
    for name in OVERRIDES[device.type]:
        if value := os.environ.get(name):
            raise UserError(f"{name}={value} changes what a precision means behind the settings; unset it")


def _refuse_unusable() -> None:
    """Raise a UserError for a GPU on which PyTorch computes nothing, as where its build has no kernels for it."""
    try:
        torch.ones(1, device="cuda").add_(1).item()
    except RuntimeError as error:
        raise UserError(
            f"{torch.cuda.get_device_name()}: torch {torch.__version__} cannot compute on it: {_first(error)}; "
            f"docs/cluster.md#gpus says which build fits, or use another GPU"
        ) from None


def find_out_of_memory_error(error: BaseException, work: str, remedy: str = _REMEDY) -> RecurringError | None:
    """Return the message for an out-of-memory error: the work, and what PyTorch says of it. None for other errors."""
    if not isinstance(error, torch.OutOfMemoryError) and not any(map(str(error).count, _OUT_OF_MEMORY)):
        # where memory ends while a graph is recorded, ending the recording may fail, too
        before = error.__context__
        return find_out_of_memory_error(before, work, remedy) if isinstance(before, RuntimeError) else None
    return RecurringError(
        f"{work}: out of memory: {_first(error).partition(' Of the allocated')[0]}; {remedy}"
    )


def _first(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def device_name(device: torch.device) -> str:
    """Return the name of the GPU, or the architecture of the CPU with the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU ({platform.machine()}, {threads} thread{'s' if threads > 1 else ''})"


def make_deterministic(threads: int) -> None:
    """Make results equal to the bit for the same seed and machine. The number of threads comes from the config."""
    # with another size, a GPU's products may differ from run to run
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.set_num_threads(threads)
    # use_deterministic_algorithms would import torch's compiler, which takes seconds
    torch.set_deterministic_debug_mode("warn")
    # every `empty` here is filled before it is read: filling it beforehand would be time lost
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def keep_freed_memory() -> None:
    """Keep freed memory for the next update. Without glibc, nothing is changed.

    Any call of mallopt ends glibc's own adjustment of both thresholds. So the second is only set if the first was;
    alone, it would leave all blocks above 128 kB to be taken from the system at each use.
    """
    if platform.libc_ver()[0] == "glibc":
        mallopt = ctypes.CDLL(None).mallopt
        if mallopt(_MMAP_THRESHOLD, _LARGEST) or mallopt(_MMAP_THRESHOLD, _LARGEST_BEFORE):
            mallopt(_TRIM_THRESHOLD, _LARGEST)


def give_back_freed_memory() -> None:
    """Return kept memory to the system. With batches of many lengths, more and more of it is too small for the next."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
