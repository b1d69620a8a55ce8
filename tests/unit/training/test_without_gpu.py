"""What a GPU would do, without one: nothing waits for the host, and an update starts no more kernels than it did."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import torch

from tests.running import ROOT

LOAD = ROOT / "tests" / "fake_cuda" / "load.py"
WRITTEN_FOR = re.findall(r'^TORCH = "(.+)"', LOAD.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
pytestmark = [
    pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler"),
    pytest.mark.skipif(
        torch.__version__.split("+")[0] != WRITTEN_FOR or sys.platform != "linux",
        reason=f"fake CUDA tensors were made for PyTorch {WRITTEN_FOR} on Linux",
    ),
]

MOST = {
    "update rnnsearch 27 torch": 2756,
    "update rnnsearch 27 triton": 956,
    "update rnnencdec 27 torch": 1864,
    "update rnnencdec 27 triton": 678,
    "update grconv 27 torch": 2868,
    "update grconv 27 triton": 2131,
    "update lstm 27 torch": 363,
    "update lstm 27 triton": 315,
    "search rnnsearch": 126,
    "search rnnencdec": 119,
    "search grconv": 119,
    "search lstm": 152,
}
"""Kernels of an update of pairs of 27 positions, and of a step of beam search, at the papers' sizes."""


def found(cases: str) -> dict[str, int | str]:
    """What a process of its own finds."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.fake_cuda.program", cases]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    values: dict[str, int | str] = json.loads(result.stdout)
    return values


@pytest.mark.slow
def test_nothing_waits_for_the_host() -> None:
    """Of updates of every family, ablation, optimizer and precision, of search steps and validations."""
    values = found("updates")
    assert len(values) > 30
    assert not {name: value for name, value in values.items() if not isinstance(value, int)}


@pytest.mark.slow
def test_kernels_only_become_fewer_and_compile_for_every_gpu() -> None:
    values = found("kernels")
    if importlib.util.find_spec("triton") is not None:
        spilled = [count for name, count in values.items() if " sm_" in name]
        assert len(spilled) >= 50 and not any(spilled)
    assert not {name: value for name, value in values.items() if not isinstance(value, int)}
    assert {name: values[name] for name in MOST if name in values} == MOST, (
        "where fewer, put the new number here"
    )
