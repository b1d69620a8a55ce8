"""A training job on a real Slurm: the one test of a cluster that each push runs."""

import json

from tests.slurm.cluster import run
from tests.slurm.experiment import PATIENCE

MODEL = "rnnencdec-30"
FOLDER = f"models/{MODEL}"


def test_training_job_runs_on_the_gpu_partition(cluster, experiment):
    experiment.start_on_cluster("--", f"{FOLDER}/model.safetensors")
    assert experiment.heads[-1].wait(timeout=PATIENCE) == 0, experiment.output()[-4000:]
    summary = json.loads((experiment.folder / FOLDER / "summary.json").read_text(encoding="utf-8"))
    assert summary["updates"] == 350
    jobs = run("squeue", "--noheader", "--states=all", "--format=%P %T").stdout.splitlines()
    assert jobs == ["gpu COMPLETED"]


def test_refused_job_is_sent_once(cluster, experiment):
    log = experiment.folder / "logs" / "train" / f"{MODEL}.log"
    log.parent.mkdir()
    log.write_text("update 350: the end of an earlier training\n", encoding="utf-8")
    experiment.start_on_cluster(
        "--set-resources", "train:constraint=nowhere", "--", f"{FOLDER}/model.safetensors"
    )
    assert experiment.heads[-1].wait(timeout=PATIENCE) != 0
    failure = "FAILED: train rnnencdec-30\nSlurm refuses it: Invalid feature specification\n"
    assert experiment.output().count("FAILED") == experiment.output().count(failure) == 1
