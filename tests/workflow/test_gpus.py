"""The pool of GPUs that the jobs of a machine share, on a machine whose nvidia-smi tells of two."""

import os
import time

import pytest

from tests.running import hanging
from workflow import gpus


@pytest.mark.parametrize(
    ("variable", "value", "pool"),
    [
        ("NMT_GPUS", "3, 4", "3, 4"),
        ("CUDA_VISIBLE_DEVICES", "1", "1"),
        ("CUDA_VISIBLE_DEVICES", "-1", ""),
        ("CUDA_VISIBLE_DEVICES", "1,-1,0", "1"),
        ("CUDA_VISIBLE_DEVICES", "NoDevFiles", ""),
        ("CUDA_VISIBLE_DEVICES", "", ""),
        (None, "", "0,1"),
    ],
)
def test_pool_of_gpus(tmp_path, monkeypatch, variable, value, pool):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho GPU 0: one\necho GPU 1: two\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for name in ("NMT_GPUS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "")  # so that what `share` sets is taken back
        monkeypatch.delenv(name)
    if variable:
        monkeypatch.setenv(variable, value)
    assert gpus.share_gpus() == len([name for name in pool.split(",") if name])
    assert os.environ["NMT_GPUS"] == pool


def test_mig_instances_replace_their_gpu():
    listing = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1a2b)
  MIG 1g.5gb     Device  0: (UUID: MIG-3c4d)
  MIG 2g.10gb    Device  1: (UUID: MIG-7a8b)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-5e6f)
"""
    assert gpus.list_gpus(listing) == ["MIG-3c4d", "MIG-7a8b", "GPU-5e6f"]
    assert gpus.list_gpus("GPU 0: Tesla V100 (UUID: GPU-1a2b)\n") == ["0"]


def test_a_driver_that_hangs_is_none(tmp_path, monkeypatch):
    hanging("nvidia-smi", tmp_path, monkeypatch)
    monkeypatch.delenv("NMT_GPUS", raising=False)
    began = time.monotonic()
    assert gpus.share_gpus() == 0
    assert time.monotonic() - began < 30
