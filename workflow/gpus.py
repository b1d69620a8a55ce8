"""The GPUs of this machine, which jobs share: each job on a GPU gets its own."""

from __future__ import annotations

import os
import re

from nmt.backend.gpu_pool import POOL_VARIABLE, VISIBLE_VARIABLE, parse_gpu_list
from nmt.io.system import query_program

UUID = re.compile(r"\(UUID: ([^)\s]+)\)")


def installed_gpus(listing: str) -> list[str]:
    """Return the names of the GPUs in what `nvidia-smi -L` prints.

    A GPU that is divided into MIG instances cannot be used as a whole. Its instances take its place, and then all
    have their UUIDs, since CUDA numbers the GPUs of such a machine otherwise than the listing.
    """
    gpus: list[list[str]] = []  # for each GPU, the UUIDs of its instances after its own
    for line in listing.splitlines():
        if line.startswith("GPU "):
            gpus.append(UUID.findall(line))
        elif gpus:
            gpus[-1] += UUID.findall(line)
    if all(len(uuids) <= 1 for uuids in gpus):
        return [str(number) for number in range(len(gpus))]
    return [uuid for uuids in gpus for uuid in uuids[1:] or uuids]


def share() -> int:
    """Let the jobs of this process take their GPUs from a pool. Return the number of GPUs.

    The pool has the GPUs that NMT_GPUS names, or else all that CUDA_VISIBLE_DEVICES leaves.
    """
    if POOL_VARIABLE not in os.environ:
        installed = installed_gpus(
            query_program("nvidia-smi", "-L") or ""
        )  # a driver that hangs computes nothing
        if installed:
            os.environ[POOL_VARIABLE] = ",".join(
                parse_gpu_list(os.environ.get(VISIBLE_VARIABLE, ",".join(installed)))
            )
    return len(parse_gpu_list(os.environ.get(POOL_VARIABLE, "")))
