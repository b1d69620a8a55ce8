"""`nmt.config.jobs` names the jobs and files that the workflow's rules declare: `nmt status` goes by it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from nmt.config import jobs as stages
from nmt.config.overlays import find_layers, load
from nmt.config.schema import Config
from tests.running import ROOT, snakemake_command

LEFT_OUT = {"model_card", "parts", "provenance"}
"""Rules that only copy or describe, in seconds, what others have made: `nmt status` does not show them."""


def declared(folder: Path, *targets: str) -> set[tuple[str, str]]:
    """Rule and file of every output that Snakemake would make."""
    command = snakemake_command(folder, "--summary", "--forceall", *targets)
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in result.stdout.splitlines() if "\t" in line]
    return {(row[2], row[0]) for row in rows[1:] if row[2] not in LEFT_OUT}


def known(config: Config) -> set[tuple[str, str]]:
    """Rule and file of every output that the stages name."""
    jobs = [job for stage in (*stages.data_stages(config), stages.report(config)) for job in stage.jobs]
    for run in stages.runs_in_use(config):
        jobs += [stages.training(run), *(stages.translation(run, mode) for mode in stages.MODES)]
        jobs.append(stages.scoring(run))
    jobs += [stages.packaging(run) for run in stages.packaged_runs(config)]
    if stages.knows_alignments(config):
        jobs += [stages.alignment(run) for run in stages.aligned_runs(config)]
    return {(job.rule, file) for job in jobs for file in job.files}


@pytest.mark.parametrize("experiment", ["", "demo", "ablations"])
def test_stages_name_what_the_rules_make(tmp_path: Path, experiment: str) -> None:
    if experiment:
        shutil.copy(ROOT / "experiments" / experiment / "config.yaml", tmp_path)
    config = load(find_layers(ROOT / "config.yaml", tmp_path))
    assert known(config) == declared(tmp_path), "nmt/stages.py and workflow/rules must name the same files"


def test_stages_name_what_the_sweep_makes(tmp_path: Path) -> None:
    config = load(find_layers(ROOT / "config.yaml", tmp_path))
    swept = {(job.rule, file) for job in stages.sweep(config).jobs for file in job.files}
    assert len(swept) == 2 + 6
    made = declared(tmp_path, "sweep")
    assert swept == {(rule, file) for rule, file in made if rule in ("sweep_model", "decoding_sweep")}
    assert not swept & declared(tmp_path)
