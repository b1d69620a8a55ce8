"""The GPUs of this machine, which jobs share: each job on a GPU gets its own."""

from __future__ import annotations

import os
import re

from nmt.backend.gpu_pool import POOL, VISIBLE, gpu_names
from nmt.io.system import ask


def share() -> int:
    """Let the jobs of this process take their GPUs from a pool. Return the number of GPUs.

    The pool has the GPUs that NMT_GPUS names, or else all that CUDA_VISIBLE_DEVICES leaves.
    """
    if POOL not in os.environ:
        answer = ask("nvidia-smi", "-L") or ""  # a driver that hangs computes nothing
        gpu_count = len(re.findall("^GPU ", answer, re.MULTILINE))
        installed = ",".join(map(str, range(gpu_count)))
        if gpu_count:
            os.environ[POOL] = ",".join(gpu_names(os.environ.get(VISIBLE, installed)))
    return len(gpu_names(os.environ.get(POOL, "")))
