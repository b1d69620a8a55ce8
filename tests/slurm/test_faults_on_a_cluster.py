"""The demo on a real Slurm, through everything that befalls its jobs there, to the results of an undisturbed run."""

import time
from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, run
from tests.slurm.experiment import PATIENCE, TARGETS, Experiment, Watch, read_results

LONG, STAR = "rnnsearch-50", "rnnsearch-50-star"
GPUS = {"0", "1"}
SHORT_JOBS = "resources: {train_hours: 0.015}"
"""Training jobs get a minute at a time."""


@pytest.fixture(scope="module")
def undisturbed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    """The same experiment at work on this machine, without Slurm."""
    experiment = Experiment(tmp_path_factory.mktemp("here"), SHORT_JOBS)
    experiment.start_here(*TARGETS)
    yield experiment
    experiment.remove()


@pytest.fixture(scope="module")
def disturbed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    """The experiment for the cluster."""
    experiment = Experiment(tmp_path_factory.mktemp("there"), SHORT_JOBS)
    experiment.write_profile()
    yield experiment
    experiment.remove()


@pytest.mark.slow
def test_every_fault_gives_the_same_results(cluster, undisturbed, disturbed):
    watch = Watch(cluster, disturbed)

    # Submissions that fail: the partition of the GPUs is closed for a while.
    run("scontrol", "update", "partitionname=gpu", "state=inactive")
    disturbed.start_on_cluster(*TARGETS)
    watch.until((disturbed.folder / "logs" / "sbatch.log").exists, "a refused submission")
    watch.until(lambda: "not taken yet" in disturbed.output(), "a word of the head about it")
    run("scontrol", "update", "partitionname=gpu", "state=down")  # takes jobs, and starts none
    watch.until(lambda: len(watch.find_jobs("PENDING")) == 3, "three training jobs")
    run("scontrol", "update", "partitionname=gpu", "state=up")

    # Two models hold two GPUs, the third waits; the most urgent does not.
    watch.until(
        lambda: set(watch.read_gpus().values()) == GPUS and watch.find_jobs("PENDING"), "two trainers"
    )
    held, (waiting,) = watch.read_gpus(), watch.find_jobs("PENDING")
    assert LONG in held and len(held) == 2
    (first,) = set(held) - {LONG}
    assert {first, waiting} == {"rnnencdec-30", "rnnsearch-30"}

    # The long run gets long, on a machine of any speed.
    trainer = watch.wait_for_trainer(LONG)
    trainer.suspend()

    # A job that is cancelled, a trainer that is killed.
    watch.wait_for_trainer(first)
    run("scancel", watch.find_jobs("RUNNING")[first])
    watch.wait_for_trainer(waiting).kill()

    # A head that is killed and started again: what it has sent runs on, and its double waits without a GPU.
    disturbed.kill_head()
    assert trainer.is_running()
    disturbed.start_on_cluster(*TARGETS)
    watch.until(lambda: LONG in watch.find_jobs("PENDING"), "a second job of the long run")
    assert LONG in watch.find_jobs("RUNNING")
    assert watch.read_gpus()[LONG] in GPUS

    # A time limit shorter than the training.
    stopped = f"{LONG}: stopped after update "
    watch.until(lambda: time.time() > trainer.create_time() + 50, "the time limit")
    trainer.resume()
    watch.until(lambda: stopped in disturbed.training_logs(LONG), "a stop before the time limit")

    # A node that is lost and comes back.
    watch.wait_for_trainer(LONG, trainer).suspend()
    cluster.stop_node()
    watch.until(lambda: cluster.node_state().startswith("down"), "the loss of the node")
    cluster.start_node()

    # Jobs have a minute each: on a busy machine the training takes many of them.
    tables = disturbed.folder / "results" / "table1.csv"
    watch.until(tables.exists, "the tables", patience=4 * PATIENCE)
    assert disturbed.heads[-1].wait(timeout=PATIENCE) == 0, disturbed.output()[-4000:]
    assert undisturbed.heads[-1].wait(timeout=PATIENCE) == 0, undisturbed.output()[-4000:]
    here, there = read_results(undisturbed.folder), read_results(disturbed.folder)
    assert len(here) == 38
    assert [name for name in here.keys() | there.keys() if here.get(name) != there.get(name)] == []
