"""What a GPU would do, without one: no update waits for the host."""

import json
import re
import shutil
import subprocess
import sys

import pytest
import torch

from nmt.settings.model_types import MODEL_TYPES
from tests.running import ROOT

LOAD = ROOT / "tests" / "fake_cuda" / "load.py"
WRITTEN_FOR = re.findall(r'^TORCH = "(.+)"', LOAD.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
@pytest.mark.skipif(
    torch.__version__.split("+")[0] != WRITTEN_FOR or sys.platform != "linux",
    reason=f"fake CUDA tensors were made for PyTorch {WRITTEN_FOR} on Linux",
)
def test_no_update_waits_for_the_host() -> None:
    command = [sys.executable, "-m", "tests.fake_cuda.program"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == dict.fromkeys(MODEL_TYPES, "passed")
