"""A cluster for the tests of this folder, where one can be started."""

from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, explain_missing_slurm, skip_or_fail, start_cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster without an accounting database."""
    if problem := explain_missing_slurm():
        skip_or_fail(problem)
    with start_cluster() as cluster:
        yield cluster
