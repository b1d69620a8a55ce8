"""The GPUs of this machine, which jobs share: each job on a GPU gets its own."""

from __future__ import annotations

import os
import shutil
import subprocess

from nmt.backend.gpu_pool import POOL, VISIBLE, gpu_names

SECONDS = 20
"""Time limit for nvidia-smi."""


def share() -> int:
    """Let the jobs of this process take their GPUs from a pool. Return the number of GPUs.

    The pool has the GPUs that NMT_GPUS names, or else all that CUDA_VISIBLE_DEVICES leaves.
    """
    if POOL not in os.environ and (installed := _installed()):
        os.environ[POOL] = ",".join(gpu_names(os.environ.get(VISIBLE, ",".join(installed))))
    return len(gpu_names(os.environ.get(POOL, "")))


def _installed() -> list[str]:
    if not shutil.which("nvidia-smi"):
        return []
    try:
        listing = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:  # a driver that hangs computes nothing
        return []
    found = [line for line in listing.stdout.splitlines() if line.startswith("GPU ")]
    return [str(index) for index in range(len(found))] if listing.returncode == 0 else []
