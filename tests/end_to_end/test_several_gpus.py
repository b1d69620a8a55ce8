"""workflow/run.py trains models in parallel, each on a GPU of its own; here on GPUs that need not exist."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.running import ROOT, make_demo, run_command, scheduled, snakemake_command

AUTO = "training: {device: auto}\nuse: {models: [rnnencdec-30, rnnsearch-30, rnnencdec-50]}\n" + (
    "artifacts: {figure2_models: [rnnsearch-30], figure3_model: rnnsearch-30, table3_models: [rnnsearch-30]}\n"
)


def start(folder: Path, gpus: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NMT_GPUS": gpus, "TMPDIR": str(folder)}
    return subprocess.run(
        run_command(folder, *options), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    make_demo(tmp_path)
    (tmp_path / "auto.yaml").write_text(AUTO, encoding="utf-8")
    return tmp_path


def test_every_model_is_trained_on_a_gpu_of_the_pool_and_none_waits_for_one(demo: Path) -> None:
    overlays = [str(demo / "tiny.yaml"), str(demo / "auto.yaml")]
    result = start(demo, "5,6", "--configfile", *overlays, "--until", "train", "--keep-going")
    assert result.returncode == 1, result.stdout + result.stderr
    logs = [path.read_text(encoding="utf-8") for path in sorted((demo / "logs" / "train").glob("*.log"))]
    taken = [re.findall(r"nmt: computes on GPU (\d) of 5, 6", log) for log in logs]
    assert len(taken) == 3
    # torch sees none of them: no model is trained on the processor without a word
    assert all("sees no GPU, but NMT_GPUS=5,6 says that there is one" in log for log in logs)
    # A job that ends before the next one looks leaves its GPU to it. That jobs at work have different GPUs is tested in
    # tests/unit/backend/test_gpu_pool.py.
    assert {gpu for (gpu,) in taken} <= {"5", "6"}
    # Snakemake starts no more jobs than there are GPUs.
    assert not any("waiting for one" in log for log in logs)


@pytest.mark.parametrize(("gpus", "threads"), [("0,1,2,3", 2), ("0", 8)])
def test_jobs_count_for_so_few_cores_that_all_gpus_are_busy(demo: Path, gpus: str, threads: int) -> None:
    settings = ["training={threads: 8}", "decoding={threads: 8}"]
    result = subprocess.run(
        snakemake_command(demo, "--cores", "8", "-n", "--config", *settings),
        cwd=ROOT, env={**os.environ, "NMT_GPUS": gpus}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for rule in ("train", "translate", "align"):
        blocks = scheduled(result.stdout, rule)
        assert blocks and all(f"threads: {threads}\n" in block for block in blocks)
