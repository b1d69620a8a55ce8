"""With this folder on PYTHONPATH, a Python on Linux lacks what macOS lacks, as far as that can be acted.

No `os.sched_getaffinity`, no /proc, no glibc, no GPU's devices, no Triton, no copies that share their blocks. What it
cannot act: another processor, another C library, programs without GNU's options.
"""

import os
import platform
import sys
from typing import Any

LINUX_ALONE = {"malloc_trim", "mallopt", "cuDriverGetVersion"}
IOCTL_OF_LINUX = 0x40049409
"""FICLONE."""


def beyond_us() -> bool:
    """Whether the question is that of a package with ways of its own for each system, as psutil has."""
    frame = sys._getframe(2)
    while frame is not None:
        if f"{os.sep}psutil{os.sep}" in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def absent(path: object) -> bool:
    """Whether macOS has no such path."""
    text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
    return text.startswith("/proc") and not beyond_us()


def refuse(event: str, given: tuple[Any, ...]) -> None:
    """An error where macOS gives one: an audit hook, which sees what whatever module asks of the system."""
    if event == "open" and absent(given[0]):
        raise FileNotFoundError(2, "No such file or directory", given[0])
    if event == "fcntl.ioctl" and given[1] == IOCTL_OF_LINUX:
        raise OSError(25, "Inappropriate ioctl for device")
    if event == "ctypes.dlsym" and given[1] in LINUX_ALONE:
        raise AttributeError(f"dlsym: {given[1]}: symbol not found")
    if event == "import" and given[0].partition(".")[0] == "triton":
        raise ModuleNotFoundError("No module named 'triton'", name="triton")


def stat(path: Any, **options: Any) -> os.stat_result:
    """`os.stat`, which tells audit hooks nothing."""
    if absent(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    return given_stat(path, **options)


given_stat, os.stat = os.stat, stat
del os.sched_getaffinity
platform.libc_ver = lambda *_, **__: ("", "")
sys.addaudithook(refuse)
