from __future__ import annotations

import os
import stat
from pathlib import Path

import torch
from safetensors.torch import load

from nmt.store.tensors import save_tensors


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR)
    save_tensors(pipe, {"a": torch.ones(2)})
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert load(os.read(reader, 1 << 16))["a"].tolist() == [1, 1]
    os.close(reader)
