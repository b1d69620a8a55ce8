"""Selection on Slurm: one job for all shards of a corpus, with the results of this machine."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import kenlm
from tests.slurm.cluster import Cluster, run
from tests.slurm.experiment import PATIENCE, Experiment

SHARDS = 5
SELECT = f"""
selection: {{enabled: true, in_domain: [demo-dev], order: 3, target_words: 3000, discount_fallback: true}}
corpora: {{demo-train: {{shards: {SHARDS}}}}}
"""
FILES = [f"data/selected/demo-train/{shard}.{side}.zst" for shard in range(SHARDS) for side in ("en", "fr")]


@pytest.fixture
def experiments(cluster: Cluster, tmp_path: Path) -> Iterator[list[Experiment]]:
    """An experiment for this machine, and the same for the cluster."""
    experiments = [Experiment(tmp_path / name) for name in ("here", "there")]
    for experiment in experiments:
        experiment.overlays.append(experiment.folder / "select.yaml")
        experiment.overlays[-1].write_text(SELECT, encoding="utf-8")
    yield experiments
    for experiment in experiments:
        experiment.remove()


@pytest.mark.slow
def test_shards_are_one_job_of_each_step(experiments: list[Experiment]) -> None:
    kenlm.programs()
    here, there = experiments
    there.write_profile()
    here.start_here("--", *FILES)
    there.start_on_cluster("--", *FILES)
    for experiment in experiments:
        assert experiment.heads[0].wait(timeout=PATIENCE) == 0, experiment.output()[-4000:]
    for file in FILES:
        assert (here.folder / file).read_bytes() == (there.folder / file).read_bytes(), file
    sent = run("squeue", "--noheader", "--states=all", "--format=%T %k").stdout
    for step in ("score", "select"):
        assert len(re.findall(rf"COMPLETED rule_{step}_pairs_demo-train", sent)) == 1, sent
