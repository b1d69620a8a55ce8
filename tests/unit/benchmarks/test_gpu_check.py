"""`make gpu-check`: to its end without a GPU, and on a processor in a GPU's place."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import torch

from benchmarks import gpu_check
from benchmarks.gpu_checks import CHECKS, Setup
from nmt.model.precision import supported
from tests.running import ends


@pytest.mark.skipif(torch.cuda.is_available(), reason="is for machines without a GPU")
def test_without_a_gpu_no_check_runs_and_each_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gpu_check.main(["--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "gpu_check.json").read_text(encoding="utf-8"))
    assert list(found["checks"]) == list(CHECKS)
    assert {check["result"] for check in found["checks"].values()} == {"not run"}
    shown = capsys.readouterr().out
    assert shown.startswith(f"# GPU check: 0 passed, 0 failed, {len(CHECKS)} not run\n\nno GPU, PyTorch ")
    assert shown == (tmp_path / "gpu_check.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not supported("bf16"), reason="the processor has no instructions for bf16")
def test_a_processor_stands_in_at_tiny_sizes(tmp_path: Path) -> None:
    options = ["--device", "cpu", "--tiny", "--only", "recorded", "resume", "precisions"]
    assert gpu_check.main([*options, "--output", str(tmp_path)]) == 0
    checks = json.loads((tmp_path / "gpu_check.json").read_text(encoding="utf-8"))["checks"]
    assert [check["result"] for check in checks.values()] == ["not run", "passed", "passed"]
    assert checks["recorded"]["reason"] == "a CUDA graph needs a GPU"
    assert checks["precisions"]["figures"]["updates"] == 20
    assert checks["precisions"]["figures"]["bf16"] != checks["precisions"]["figures"]["fp32"]


def test_a_check_that_fails_is_in_the_report_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = iter(
        [{"result": "passed", "figures": {"ms": {"rnnsearch": 9.87654}}}, {"result": "failed", "reason": "x"}]
    )
    monkeypatch.setattr(gpu_check, "made", lambda name, setup: next(results))
    assert gpu_check.main(["--device", "cpu", "--tiny", "--only", "speed", "compiled"]) == 1
    shown = capsys.readouterr().out
    assert "# GPU check: 1 passed, 1 failed, 0 not run" in shown
    assert (
        re.search(r"\| compiled \| failed \| [\d.]+ \| x \|", shown) and "| ms, rnnsearch | 9.877 |" in shown
    )


def test_a_check_whose_process_ends_in_an_error_has_failed() -> None:
    found = gpu_check.made("gone", Setup("cpu", True))
    assert found["result"] == "failed" and "KeyError" in found["reason"]


def test_a_check_that_takes_too_long_is_killed_with_all_it_has_started(tmp_path: Path) -> None:
    command = ["sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pid; wait"]
    with pytest.raises(subprocess.TimeoutExpired):
        gpu_check._run(command, 2)
    assert ends(int((tmp_path / "pid").read_text(encoding="utf-8")))
