"""The GPUs of this machine, which jobs share: each job on a GPU gets its own."""

from __future__ import annotations

import os

from nmt.backend.gpu_pool import POOL, VISIBLE, gpu_names
from nmt.io.system import ask


def share() -> int:
    """Let the jobs of this process take their GPUs from a pool. Return the number of GPUs.

    The pool has the GPUs that NMT_GPUS names, or else all that CUDA_VISIBLE_DEVICES leaves.
    """
    if POOL not in os.environ and (installed := _installed()):
        os.environ[POOL] = ",".join(gpu_names(os.environ.get(VISIBLE, ",".join(installed))))
    return len(gpu_names(os.environ.get(POOL, "")))


def _installed() -> list[str]:
    # a driver that hangs computes nothing
    found = [line for line in ask("nvidia-smi", "-L").splitlines() if line.startswith("GPU ")]
    return [str(index) for index in range(len(found))]
