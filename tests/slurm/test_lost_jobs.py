"""Jobs that Slurm ends for the sake of others: without an accounting database, and, where there is one, with it."""

from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, explain_missing_slurm, run, skip_or_fail, start_cluster
from tests.slurm.experiment import PATIENCE, Watch

MODEL = "rnnencdec-30"
TARGET = f"models/{MODEL}/model.safetensors"


@pytest.fixture(params=[False, True], ids=["without accounting", "with accounting"])
def any_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster whose state squeue alone knows, and one with an accounting database."""
    problem = explain_missing_slurm(request.param)
    if problem:
        skip_or_fail(problem)
    with start_cluster(request.param) as cluster:
        yield cluster


@pytest.mark.slow
def test_preempted_or_cancelled_training_is_resubmitted(any_cluster, experiment):
    watch = Watch(any_cluster, experiment)
    asked = "sacct" if any_cluster.accounting else "squeue"
    experiment.start_on_cluster("--slurm-status-command", asked, "--", TARGET)
    trainer = watch.wait_for_trainer(MODEL)
    if any_cluster.accounting:
        run("scancel", watch.find_jobs("RUNNING")[MODEL])
        trainer = watch.wait_for_trainer(MODEL, trainer)
    trainer.suspend()
    urgent = ["--partition=urgent", "--gpus=2", "--mem=100", "--output=/dev/null", "--wrap=sleep 1"]
    assert run("sbatch", *urgent).returncode == 0
    assert experiment.heads[-1].wait(timeout=PATIENCE) == 0, experiment.output()[-4000:]
    assert (experiment.folder / TARGET).exists()
    assert "was cancelled, or lost its place to another job\n" in experiment.output()
    assert "It is submitted again: attempt 2 of " in experiment.output()
    lost = {"PREEMPTED", "CANCELLED"} if any_cluster.accounting else {"PREEMPTED"}
    assert lost <= set(history(any_cluster).split())


def history(cluster: Cluster) -> str:
    """How jobs ended, by the database or the controller's memory."""
    if cluster.accounting:
        since = "--starttime=now-1hour"  # else since midnight
        return run("sacct", "--allusers", "--noheader", since, "--format=State%30").stdout
    return run("squeue", "--noheader", "--states=all", "--format=%T").stdout
