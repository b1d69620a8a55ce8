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
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import torch

from nmt.backend import gpu_pool
from nmt.errors import RecurringError, UserError

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_LARGEST = 2**31 - 1

_CPU_MEMORY = "DefaultCPUAllocator: can't allocate memory"
_REMEDY = "lower its batch size, or use a device with more (docs/cluster.md#memory)"
_OUT_OF_MEMORY = (_CPU_MEMORY, "CUBLAS_STATUS_ALLOC_FAILED", "CUDA error: out of memory")


def choose_device(name: str, announced: bool = True) -> torch.device:
    """Return the device for a value of the settings. `auto` takes a GPU if there is one, a free one of a pool.

    If `announced`, print the device that `auto` takes. Raises UserError for a GPU that PyTorch cannot use: with `cuda`,
    and with `auto` if there are other signs of a GPU.
    """
    gpu_pool.take(name)
    device = torch.device("cpu")
    if name != "cpu" and torch.cuda.is_available():
        _refuse_unsupported()
        device = torch.device("cuda")
    elif name == "cuda" or (name == "auto" and gpu_pool.gpu_evidence()):
        raise UserError(_unseen(name))
    if name == "auto" and announced:
        click.echo(f"nmt: computes on {device_name(device)}", err=True)
    return device


def _unseen(name: str) -> str:
    """Return the reason why PyTorch finds no GPU, as far as it can be determined."""
    shown = f", but {', '.join(traces)} says that there is one" if (traces := gpu_pool.gpu_evidence()) else ""
    remedy = "docs/cluster.md#gpus says what fits; to compute on the processor, set `device: cpu`"
    return f"device is `{name}`: torch {torch.__version__} sees no GPU{shown}: {_reason()}; {remedy}"


def _reason() -> str:
    build, driver = torch.version.cuda, driver_version()
    if build is None:
        return "it is a build without CUDA"
    if driver is None:
        return "no NVIDIA driver can be loaded"
    if driver[0] < int(build.partition(".")[0]):
        return f"the driver is for CUDA {'.'.join(map(str, driver))}, torch for CUDA {build}"
    return (
        f"CUDA_VISIBLE_DEVICES is {os.environ.get(gpu_pool.VISIBLE, 'not set')}, and nvidia-smi may know more"
    )


def driver_version() -> tuple[int, int] | None:
    """Return the newest CUDA version that the NVIDIA driver supports; None if no driver can be loaded."""
    found = ctypes.c_int()
    try:
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(found)) != 0:
            return None
    except (OSError, AttributeError):
        return None
    return found.value // 1000, found.value % 1000 // 10


def _refuse_unsupported() -> None:
    """Raise a UserError for a GPU for which this build of PyTorch has no kernels, instead of a traceback later."""
    capability, kernels = torch.cuda.get_device_capability(), torch.cuda.get_arch_list()
    if not supported(capability, kernels):
        raise UserError(
            f"{torch.cuda.get_device_name()}, of compute capability {'.'.join(map(str, capability))}: torch"
            f" {torch.__version__} has kernels for {', '.join(kernels)} only; docs/cluster.md#gpus says which build"
            " fits, or use another GPU"
        )


def supported(capability: tuple[int, int], kernels: Sequence[str]) -> bool:
    """Return whether a GPU runs kernels of these architectures (`sm_80`, `compute_120`, as PyTorch lists them).

    Machine code runs on GPUs of its own generation with its own capability or a higher one. Code with a letter
    (`sm_90a`) runs on that capability alone. `compute_...` is compiled again for newer GPUs.
    """
    for kind, number, exact in re.findall(r"(sm|compute)_([0-9]+)([a-z]?)", " ".join(kernels)):
        built_for = divmod(int(number), 10)
        newer = built_for <= capability and (kind == "compute" or built_for[0] == capability[0])
        if capability == built_for or (newer and not exact):
            return True
    return False


@contextmanager
def memory_errors(work: str, remedy: str = _REMEDY) -> Iterator[None]:
    """Turn an out-of-memory error into a `RecurringError` in one line: the work that failed, and a remedy."""
    try:
        yield
    except RuntimeError as error:
        if (line := out_of_memory(error, work, remedy)) is None:
            raise
        raise line from None


def out_of_memory(error: BaseException, work: str, remedy: str = _REMEDY) -> RecurringError | None:
    """Return the message for an out-of-memory error: the work, and what holds the memory. None for other errors."""
    if not isinstance(error, torch.OutOfMemoryError) and not any(map(str(error).count, _OUT_OF_MEMORY)):
        # where memory ends while a graph is recorded, ending the recording may fail, too
        before = error.__context__
        return out_of_memory(before, work, remedy) if isinstance(before, RuntimeError) else None
    return RecurringError(f"{work}: out of memory: {_memory(str(error))}; {remedy}")


def _memory(error: str) -> str:
    """Describe how much memory the GPU has and what holds it; on a CPU, how much was requested in vain."""
    initialized = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if not initialized or _CPU_MEMORY in error:
        asked = re.search(r"allocate ([0-9]+) bytes", error)
        return f"{int(asked[1]):,} bytes more were asked for" if asked else error.partition("\n")[0]
    free, total = torch.cuda.mem_get_info()
    own = torch.cuda.memory_reserved()
    parts = {
        "in all": total,
        "free": free,
        "of this process": own,
        "of others and the driver": total - free - own,
    }
    said = ", ".join(f"{size / 1e9:.1f} GB {whose}" for whose, size in parts.items())
    return f"{torch.cuda.get_device_name()}: {said}"


def device_name(device: torch.device) -> str:
    """Return the name of the GPU, or the model of the CPU with the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU ({platform.machine()}, {threads} thread{'s' if threads > 1 else ''})"


def make_deterministic(threads: int) -> None:
    """Make results equal to the bit for the same seed and machine. The number of threads comes from the config."""
    # without it a GPU's products may differ by run
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    # use_deterministic_algorithms would import torch's compiler, which takes seconds
    torch.set_deterministic_debug_mode("warn")
    # every `empty` here is filled before it is read: filling it beforehand would be time lost
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def keep_freed_memory() -> bool:
    """Keep freed memory for the next update. Return False if the C library is not glibc; nothing is changed then."""
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(option, _LARGEST) == 1 for option in (_TRIM_THRESHOLD, _MMAP_THRESHOLD))


def give_back_freed_memory() -> None:
    """Return kept memory to the system. With batches of many lengths, more and more of it is too small for the next."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
