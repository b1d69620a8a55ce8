"""A training job on a real Slurm: the one test of a cluster that each push runs."""

import json

from tests.slurm.cluster import Cluster, run
from tests.slurm.experiment import PATIENCE, Experiment

MODEL = "rnnencdec-30"
FOLDER = f"models/{MODEL}"


def test_training_job_runs_on_the_gpu_partition(cluster: Cluster, experiment: Experiment) -> None:
    experiment.start_on_cluster("--", f"{FOLDER}/model.safetensors")
    assert experiment.heads[-1].wait(timeout=PATIENCE) == 0, experiment.output()[-4000:]
    summary = json.loads((experiment.folder / FOLDER / "summary.json").read_text(encoding="utf-8"))
    assert summary["updates"] == 350
    jobs = run("squeue", "--noheader", "--states=all", "--format=%P %T").stdout.splitlines()
    assert jobs == ["gpu COMPLETED"]
