"""Where a model computes, and that it always computes the same: device, threads, memory.

An update at the paper's sizes allocates and frees some gigabytes in tensors of many megabytes. The C library hands such
pieces back to the system at once, which then clears every page anew: a twelfth of an update's time on two cores.
"""

from __future__ import annotations

import ctypes
import os
import platform

import torch

from nmt.errors import UserError
from nmt.model import gpu_pool

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_LARGEST = 2**31 - 1


def choose_device(name: str) -> torch.device:
    """The device of a settings key: `auto` takes a GPU where there is one; of a pool a free one."""
    gpu_pool.take(name)
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError(
            "device is `cuda` but torch sees no GPU; set `device: cpu` or `auto`, or use a GPU machine"
        )
    return torch.device("cuda" if available and name != "cpu" else "cpu")


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
