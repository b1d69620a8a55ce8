"""Tensors in files."""

import os

import torch

from nmt.store.tensors import save_tensors


def test_permissions_of_tensors(tmp_path):
    """They are those of the user's umask: on a cluster, files are shared."""
    previous_mask = os.umask(0o027)
    try:
        save_tensors(tmp_path / "x.safetensors", {"a": torch.zeros(1)})
    finally:
        os.umask(previous_mask)
    assert (tmp_path / "x.safetensors").stat().st_mode & 0o777 == 0o640
