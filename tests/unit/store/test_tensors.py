"""Tensors in files."""

import os
import stat

import torch
from safetensors.torch import load

from nmt.store.tensors import save_tensors


def test_save_to_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR)
    save_tensors(pipe, {"a": torch.ones(2)})
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert load(os.read(reader, 1 << 16))["a"].tolist() == [1, 1]
    os.close(reader)


def test_permissions_of_tensors(tmp_path):
    """They are those of the user's umask: on a cluster, files are shared."""
    previous_mask = os.umask(0o027)
    try:
        save_tensors(tmp_path / "x.safetensors", {"a": torch.zeros(1)})
    finally:
        os.umask(previous_mask)
    assert (tmp_path / "x.safetensors").stat().st_mode & 0o777 == 0o640
