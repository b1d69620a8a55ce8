"""Models are trained in parallel, each on a GPU of its own; here on GPUs that need not exist."""

import os
import subprocess

import pytest

from tests.running import ROOT, make_demo, scheduled, snakemake_command


@pytest.mark.parametrize(("gpus", "threads"), [("0,1,2,3", 2), ("0", 8)])
def test_jobs_count_for_so_few_cores_that_all_gpus_are_busy(tmp_path, gpus, threads):
    make_demo(tmp_path)
    settings = ["training={threads: 8}", "decoding={threads: 8}"]
    result = subprocess.run(
        snakemake_command(tmp_path, "--cores", "8", "-n", "--config", *settings),
        cwd=ROOT, env={**os.environ, "NMT_GPUS": gpus}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for rule in ("train", "translate", "align"):
        blocks = scheduled(result.stdout, rule)
        assert blocks and all(f"threads: {threads}\n" in block for block in blocks)
