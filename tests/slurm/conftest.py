"""A cluster for the tests of this folder, where one can be started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, missing, refuse, running


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster without an accounting database, or with one if the module says `ACCOUNTING = True`."""
    accounting = getattr(request.module, "ACCOUNTING", False)
    problem = missing(accounting)
    if problem:
        refuse(problem)
    with running(accounting) as cluster:
        yield cluster
