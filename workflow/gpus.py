"""The GPUs of this machine, which jobs share: each job on a GPU gets its own."""

from __future__ import annotations

import os
import shutil
import subprocess


def pool() -> list[str]:
    """Return the GPUs that jobs may use: those that NMT_GPUS names, or all that CUDA_VISIBLE_DEVICES leaves."""
    named = os.environ.get("NMT_GPUS")
    if named is None:
        installed = _installed()
        named = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(installed)) if installed else ""
    return [name for name in map(str.strip, named.split(",")) if name and name != "-1"]


def share() -> int:
    """Let the jobs of this process take their GPUs from the pool. Return the number of GPUs."""
    if found := pool():
        os.environ["NMT_GPUS"] = ",".join(found)
    return len(found)


def _installed() -> list[str]:
    if not shutil.which("nvidia-smi"):
        return []
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    found = [line for line in listing.stdout.splitlines() if line.startswith("GPU ")]
    return [str(index) for index in range(len(found))] if listing.returncode == 0 else []
