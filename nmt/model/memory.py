"""Freed memory is kept for the next update instead of being given back to the system.

An update at the paper's sizes allocates and frees some gigabytes in tensors of many megabytes. The C library hands such
pieces back to the system at once, which then clears every page anew: a twelfth of an update's time on two cores.
"""

from __future__ import annotations

import ctypes
import platform

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_LARGEST = 2**31 - 1


def keep_freed_memory() -> bool:
    """Ask for it; False where the C library is not glibc and nothing is changed."""
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(option, _LARGEST) == 1 for option in (_TRIM_THRESHOLD, _MMAP_THRESHOLD))
