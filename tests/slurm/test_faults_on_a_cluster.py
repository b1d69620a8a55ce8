"""The demo on a real Slurm, through everything that befalls its jobs there, to the results of an undisturbed run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.slurm.cluster import Cluster, run
from tests.slurm.experiment import Experiment, results

LONG, STAR = "rnnsearch-50", "rnnsearch-50-star"
GPUS = {"0", "1"}
PATIENCE = 240.0


@pytest.fixture
def undisturbed(cluster: Cluster, tmp_path: Path) -> Iterator[Experiment]:
    """The same experiment at work on this machine, without Slurm."""
    experiment = Experiment(tmp_path / "here")
    experiment.start("--cores", "1")
    yield experiment
    experiment.remove()


@pytest.fixture
def disturbed(cluster: Cluster, tmp_path: Path) -> Iterator[Experiment]:
    """The experiment on the cluster."""
    experiment = Experiment(tmp_path / "there")
    experiment.write_profile()
    yield experiment
    experiment.remove()


class Watch:
    """Waits for what is to happen in an experiment on a cluster, and fails with what was printed if it does not."""

    def __init__(self, cluster: Cluster, experiment: Experiment) -> None:
        self.cluster, self.experiment = cluster, experiment

    def until(self, done: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            head = self.experiment.heads[-1]
            assert head.poll() is None, f"{what}: the head ended: {self.experiment.output()[-4000:]}"
            assert time.monotonic() < deadline, (
                f"{what}\n{self.experiment.output()[-4000:]}\n{self.cluster.logs()}"
            )
            time.sleep(0.2)

    def jobs(self, state: str) -> dict[str, str]:
        """Ids of training jobs in a state, by run."""
        found = self.cluster.jobs(f"--states={state}")
        prefix = "rule_train_wildcards_"
        return {comment.removeprefix(prefix): id for id, _, comment in found if comment.startswith(prefix)}

    def held(self) -> dict[str, str]:
        """GPUs of the trainers at work, by run."""
        trainers = self.experiment.trainers()
        return {name: process.environ().get("CUDA_VISIBLE_DEVICES", "") for name, process in trainers.items()}

    def begun(self, name: str, but: psutil.Process | None = None) -> psutil.Process:
        """A run's trainer, once it has written a checkpoint; another one than that given."""

        def found() -> bool:
            return self.experiment.has_checkpoint(name) and self.experiment.trainers().get(name, but) != but

        self.until(found, f"a trainer of {name} with a checkpoint")
        return self.experiment.trainers()[name]


@pytest.mark.slow
def test_every_fault_ends_in_the_results_of_an_undisturbed_run(
    cluster: Cluster, undisturbed: Experiment, disturbed: Experiment
) -> None:
    watch = Watch(cluster, disturbed)

    # Submissions that fail: the partition of the GPUs is closed for a while.
    run("scontrol", "update", "partitionname=gpu", "state=inactive")
    disturbed.start_on_cluster()
    watch.until((disturbed.folder / "logs" / "sbatch.log").exists, "a refused submission")
    time.sleep(5)
    run("scontrol", "update", "partitionname=gpu", "state=up")

    # Two models hold two GPUs, the third waits.
    watch.until(lambda: set(watch.held().values()) == GPUS and watch.jobs("PENDING"), "three training jobs")
    held, (waiting,) = watch.held(), watch.jobs("PENDING")
    assert LONG in held and len(held) == 2
    (first,) = set(held) - {LONG}
    assert {first, waiting} == {"rnnencdec-30", "rnnsearch-30"}

    # A job that is cancelled, a trainer that is killed.
    watch.begun(first)
    run("scancel", watch.jobs("RUNNING")[first])
    watch.begun(waiting).kill()

    # A head that is killed and started again: what it has sent runs on, and its double waits without a GPU.
    trainer = watch.begun(LONG)
    disturbed.kill_head()
    assert trainer.is_running()
    disturbed.start_on_cluster()
    watch.until(lambda: LONG in watch.jobs("PENDING"), "a second job of the long run")
    assert LONG in watch.jobs("RUNNING")
    assert watch.held()[LONG] in GPUS

    # A time limit shorter than the training.
    stopped = f"{LONG}: stopped after update "
    watch.until(lambda: stopped in disturbed.training_logs(LONG), "a stop before the time limit")

    # A node that is lost and comes back.
    watch.begun(LONG, trainer)
    cluster.stop_node()
    watch.until(lambda: cluster.node_state().startswith("down"), "the loss of the node")
    cluster.start_node()

    watch.until(lambda: (disturbed.folder / "results" / "table1.csv").exists(), "the tables")
    assert disturbed.heads[-1].wait(timeout=60) == 0, disturbed.output()[-4000:]
    assert undisturbed.heads[-1].wait(timeout=PATIENCE) == 0, undisturbed.output()[-4000:]
    there, here = results(disturbed.folder), results(undisturbed.folder)
    assert len(here) > 30
    assert [name for name in here.keys() | there.keys() if here.get(name) != there.get(name)] == []
    assert not list((disturbed.folder / "models").rglob("*.tmp"))
    shutil.rmtree(disturbed.folder)
