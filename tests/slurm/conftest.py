"""A cluster for the tests of this folder, where one can be started, and an experiment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster, explain_missing_slurm, skip_or_fail, start_cluster
from tests.slurm.experiment import PATIENCE, Experiment


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster without an accounting database."""
    if problem := explain_missing_slurm():
        skip_or_fail(problem)
    with start_cluster() as cluster:
        yield cluster


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[Experiment]:
    """An experiment whose text is ready. A test names its cluster first, which thus ends last."""
    experiment = Experiment(tmp_path)
    experiment.write_profile()
    experiment.start_here("--", "data")
    assert experiment.heads[0].wait(timeout=PATIENCE) == 0, experiment.output()
    yield experiment
    experiment.remove()
