"""The GPUs of this machine, which jobs share: each job on a GPU gets its own."""

import os
import re

from nmt.backend.gpu_pool import POOL_VARIABLE, VISIBLE_VARIABLE, parse_gpu_list
from nmt.io.system import query_program

GPU = re.compile(r"^GPU .*\n?(?:^ .*\n?)*", re.MULTILINE)
"""The line of a GPU, with the indented lines of its instances."""
UUID = re.compile(r"\(UUID: ([^)\s]+)\)")


def list_gpus(listing: str) -> list[str]:
    """Return the names by which jobs choose the GPUs that `nvidia-smi -L` lists: "0", "1" and so on.

    A GPU that is divided into MIG instances cannot be used as a whole, so its instances take its place. They have UUIDs
    instead of numbers. A machine with such a GPU has only UUIDs, because CUDA's numbers are in a different order there.

    listing: the program's output, with a line for each GPU, and indented lines below it for its instances.
    """
    gpus = GPU.findall(listing)
    if "(UUID: MIG-" not in listing:
        return [str(number) for number in range(len(gpus))]
    names = []
    for gpu in gpus:
        own_uuid, *instance_uuids = UUID.findall(gpu)
        names += instance_uuids or [own_uuid]
    return names


def share_gpus() -> int:
    """Let the jobs of this process take their GPUs from a pool. Return the number of GPUs.

    The pool has the GPUs that NMT_GPUS names, or else all that CUDA_VISIBLE_DEVICES allows.
    """
    if POOL_VARIABLE not in os.environ:
        # if nvidia-smi does not answer, because a driver hangs for example, no GPU is used
        listing = query_program("nvidia-smi", "-L")
        installed_gpus = list_gpus(listing) if listing else []
        if installed_gpus:
            visible_gpus = parse_gpu_list(os.environ.get(VISIBLE_VARIABLE, ",".join(installed_gpus)))
            os.environ[POOL_VARIABLE] = ",".join(visible_gpus)
    return len(parse_gpu_list(os.environ.get(POOL_VARIABLE, "")))
