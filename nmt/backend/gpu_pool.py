"""One GPU per job on a machine with several GPUs: each job takes a free one and keeps it until its process ends.

The environment variable NMT_GPUS lists the GPUs of the pool, in the format of CUDA_VISIBLE_DEVICES ("0,1,2,3"). Without
it, no GPU is reserved and PyTorch chooses. A GPU is reserved by a file lock of the kernel. The lock ends with the
process, however that ends, so a killed job never keeps a GPU.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import click

from nmt.io.locks import try_lock

POOL_VARIABLE, VISIBLE_VARIABLE = "NMT_GPUS", "CUDA_VISIBLE_DEVICES"
POLL_SECONDS = 1.0
GPU = re.compile(r"\d+|(GPU|MIG)-\S+", re.ASCII)
"""A word that CUDA accepts as a GPU. Any other word, such as NoDevFiles, means no GPU."""

DEVICES = Path("/dev")
LOCKS = Path("/tmp")
"""Parent of the locks' folder: the same for all jobs of a machine, while each may have its own TMPDIR."""

_held_locks: list[int] = []
"""Descriptors of the locks that this process holds, open until it ends."""


def reserve_gpu(device: str) -> None:
    """Reserve a free GPU of the pool for the rest of this process, and hide the others from PyTorch.

    Waits until a GPU is free. Must be called before PyTorch first looks for GPUs. Does nothing for the device `cpu`,
    without a pool, or if this process has reserved a GPU already.
    """
    pool = parse_gpu_list(os.environ.get(POOL_VARIABLE, ""))
    if device == "cpu" or not pool or _held_locks:
        return
    gpu, descriptor = _wait_for_gpu(pool)
    _held_locks.append(descriptor)
    os.environ[VISIBLE_VARIABLE] = gpu
    click.echo(f"nmt: computes on GPU {gpu} of {', '.join(pool)}", err=True)


def parse_gpu_list(text: str) -> list[str]:
    """Return the GPUs of a list in the format of CUDA_VISIBLE_DEVICES.

    As for CUDA, the list ends at the first word that is no GPU: "0,1,-1,2" -> ["0", "1"].
    """
    words = [word.strip() for word in text.split(",")]
    return list(takewhile(GPU.fullmatch, words))


def has_gpu_evidence() -> bool:
    """Return whether variables or device files show, without PyTorch, that this process may use a GPU."""
    if os.environ.get(POOL_VARIABLE) or os.environ.get("SLURM_JOB_GPUS"):
        return True
    visible_gpus = os.environ.get(VISIBLE_VARIABLE)
    if visible_gpus is not None and not parse_gpu_list(visible_gpus):
        return False
    device_files = [*DEVICES.glob("nvidia[0-9]*"), DEVICES / "dxg"]  # dxg: a GPU under WSL, Linux on Windows
    return any(_can_open(file) for file in device_files)


def _can_open(device: Path) -> bool:
    """Return whether this process may open a device file. A scheduler denies the GPUs of other jobs."""
    try:
        os.close(os.open(device, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _wait_for_gpu(pool: Sequence[str]) -> tuple[str, int]:
    """Lock the first free GPU of the pool. Return the GPU and the descriptor of its lock."""
    # the folder of the locks belongs to this machine and this user
    folder = LOCKS / f"nmt-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)

    has_announced = False
    while True:
        for gpu in pool:
            lock_file = folder / f"{gpu.replace('/', '_')}.lock"
            descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o600)
            if try_lock(descriptor):
                return gpu, descriptor
            os.close(descriptor)
        if not has_announced:
            click.echo(f"nmt: GPUs {', '.join(pool)} are all in use by other jobs; waiting for one", err=True)
            has_announced = True
        time.sleep(POLL_SECONDS)
