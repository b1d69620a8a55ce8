"""Importing this before torch gives torch a CUDA device on which nothing can run (`device.cpp`)."""

import ctypes
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

TORCH = "2.13.0"
"""The version whose functions `device.cpp` takes the place of."""
SOURCE = Path(__file__).with_name("device.cpp")

assert "torch" not in sys.modules
spec = importlib.util.find_spec("torch")
assert spec is not None and spec.origin is not None
ROOT = Path(spec.origin).parent
with tempfile.TemporaryDirectory() as folder:
    library = Path(folder) / "device.so"
    command = ["c++", "-std=c++20", "-shared", "-fPIC", "-Wl,-z,lazy", f"-I{ROOT / 'include'}"]
    subprocess.run([*command, str(SOURCE), "-o", str(library)], check=True)
    ctypes.CDLL(str(ROOT / "lib" / "libc10.so"), mode=ctypes.RTLD_GLOBAL)
    device = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)

import torch  # noqa: E402

assert torch.__version__.split("+")[0] == TORCH
device.register_device()
