"""Where a model computes, and that it always computes the same: device, threads, memory.

A GPU that is there but cannot be used is never passed over: a job would take days on the processor instead of hours.

An update at the paper's sizes allocates and frees some gigabytes in tensors of many megabytes. The C library hands such
pieces back to the system at once, which then clears every page anew: a twelfth of an update's time on two cores.
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

from nmt.errors import RecurringError, UserError
from nmt.model import gpu_pool

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_LARGEST = 2**31 - 1


_CPU_MEMORY = "DefaultCPUAllocator: can't allocate memory"
_REMEDY = "lower its batch size, or use a device with more (docs/cluster.md#memory)"
_OUT_OF_MEMORY = (_CPU_MEMORY, "CUBLAS_STATUS_ALLOC_FAILED", "CUDA error: out of memory")


def choose_device(name: str, announced: bool = True) -> torch.device:
    """The device of a settings key: `auto` takes a GPU where there is one; of a pool a free one.

    Says which one `auto` is, if that is to be `announced`. Raises UserError for a GPU that torch cannot use: with
    `cuda`, and with `auto` where something else shows that there is one.
    """
    gpu_pool.take(name)
    device = torch.device("cpu")
    if name != "cpu" and torch.cuda.is_available():
        _refuse_unsupported()
        device = torch.device("cuda")
    elif name == "cuda" or (name == "auto" and gpu_pool.in_sight()):
        raise UserError(_unseen(name))
    if name == "auto" and announced:
        click.echo(f"nmt: computes on {device_name(device)}", err=True)
    return device


def _unseen(name: str) -> str:
    """Why torch sees no GPU, as far as can be told."""
    shown = f", but {', '.join(traces)} says that there is one" if (traces := gpu_pool.in_sight()) else ""
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
    """The newest CUDA that the NVIDIA driver knows; None where no driver can be loaded."""
    found = ctypes.c_int()
    try:
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(found)) != 0:
            return None
    except (OSError, AttributeError):
        return None
    return found.value // 1000, found.value % 1000 // 10


def _refuse_unsupported() -> None:
    """A UserError for a GPU that this build of torch has no kernels for: the first would end in a traceback."""
    capability, kernels = torch.cuda.get_device_capability(), torch.cuda.get_arch_list()
    if not supported(capability, kernels):
        raise UserError(
            f"{torch.cuda.get_device_name()}, of compute capability {'.'.join(map(str, capability))}: torch"
            f" {torch.__version__} has kernels for {', '.join(kernels)} only; docs/cluster.md#gpus says which build"
            " fits, or use another GPU"
        )


def supported(capability: tuple[int, int], kernels: Sequence[str]) -> bool:
    """Whether a GPU runs kernels of such architectures (`sm_80`, `compute_120`, as torch lists them).

    Machine code runs on its own generation from its own capability on, code with a letter (`sm_90a`) on that
    capability alone; `compute_...` is compiled anew on anything newer.
    """
    for kind, number, exact in re.findall(r"(sm|compute)_([0-9]+)([a-z]?)", " ".join(kernels)):
        known = divmod(int(number), 10)
        if capability == known or (
            not exact and known <= capability and (kind == "compute" or known[0] == capability[0])
        ):
            return True
    return False


@contextmanager
def enough_memory(work: str, remedy: str = _REMEDY) -> Iterator[None]:
    """Turn memory that is not there into a `RecurringError` of a line: the work that needed it, and a remedy."""
    try:
        yield
    except RuntimeError as error:
        if (line := out_of_memory(error, work, remedy)) is None:
            raise
        raise line from None


def out_of_memory(error: BaseException, work: str, remedy: str = _REMEDY) -> RecurringError | None:
    """What is said of memory that is not there: the work, and who holds the device's; None of other errors."""
    if not isinstance(error, torch.OutOfMemoryError) and not any(map(str(error).count, _OUT_OF_MEMORY)):
        # where memory ends while a graph is recorded, ending the recording may fail, too
        before = error.__context__
        return out_of_memory(before, work, remedy) if isinstance(before, RuntimeError) else None
    return RecurringError(f"{work}: out of memory: {_memory(str(error))}; {remedy}")


def _memory(error: str) -> str:
    """How much memory the GPU has and what holds it; on a processor, how much was asked for in vain."""
    initialized = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if not initialized or _CPU_MEMORY in error:
        asked = re.search(r"allocate ([0-9]+) bytes", error)
        return f"{int(asked[1]):,} bytes more were asked for" if asked else error.partition("\n")[0]
    free, total = torch.cuda.mem_get_info()
    own = torch.cuda.memory_reserved()
    parts = {
        "all": total,
        "free": free,
        "of this process": own,
        "of others and the driver": total - free - own,
    }
    said = ", ".join(f"{size / 1e9:.1f} GB {whose}" for whose, size in parts.items()).replace(
        " all", " in all", 1
    )
    return f"{torch.cuda.get_device_name()}: {said}"


def device_name(device: torch.device) -> str:
    """The GPU's name, or the processor's kind with the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU ({platform.machine()}, {threads} thread{'s' if threads > 1 else ''})"


def make_deterministic(threads: int) -> None:
    """Same seed, same machine, same bits; the thread count comes from the config, never from the machine."""
    # without it a GPU's products may differ by run
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    torch.set_deterministic_debug_mode("warn")  # the other function imports torch's compiler: seconds
    # every `empty` here is filled before it is read: filling it beforehand would be time lost
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def keep_freed_memory() -> bool:
    """Keep freed memory for the next update; False where the C library is not glibc and nothing is changed."""
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(option, _LARGEST) == 1 for option in (_TRIM_THRESHOLD, _MMAP_THRESHOLD))


def give_back_freed_memory() -> None:
    """Give the system what is kept: between batches of many lengths ever more of it is too small for the next one."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
