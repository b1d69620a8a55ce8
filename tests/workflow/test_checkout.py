"""The checkout is one, whatever path leads to it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import ROOT, make_demo, snakemake


def plan(experiment: Path, snakefile: str) -> list[str]:
    """Shell lines of the jobs, of a Snakemake that is started in the experiment's folder."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "-n", "-p"]
    done = subprocess.run(command, cwd=experiment, capture_output=True, text=True, check=True)
    return sorted(line for line in done.stdout.splitlines() if " nmt " in line)


@pytest.mark.parametrize("snakefile", ["../link/Snakefile", "{root}/experiments/../Snakefile"])
def test_any_path_to_the_snakefile_plans_the_same_jobs(tmp_path, snakefile):
    """A path with `..` once dropped the experiment's settings and planned the paper's run in its folder."""
    experiment = tmp_path / "experiment"
    make_demo(experiment)
    (tmp_path / "link").symlink_to(ROOT)
    assert plan(experiment, snakefile.format(root=ROOT)) == plan(experiment, f"{ROOT}/Snakefile")


@pytest.mark.parametrize("target", ["models/rnnsearch-5/model.safetensors", "alignments/rnnencdec-50.jsonl"])
def test_unknown_targets_are_of_no_rule(target):
    planned = snakemake(ROOT / "experiments" / "demo", "-n", target)
    assert planned.returncode == 1 and f"No rule to produce {target}" in planned.stdout


def test_missing_package_is_one_line(tmp_path):
    make_demo(tmp_path)
    started = "import sys; sys.modules['ruamel.yaml'] = None; from snakemake.cli import main; main()"
    command = [sys.executable, "-c", started, "--snakefile", f"{ROOT}/Snakefile", "-n"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert "ruamel.yaml is not installed, and this version needs it: run `make setup` again" in said
    assert "pipeline/config" not in said  # no traceback
