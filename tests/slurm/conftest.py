"""A cluster for the tests of this folder, where one can be started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, missing, refuse, running


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster without an accounting database."""
    if problem := missing():
        refuse(problem)
    with running() as cluster:
        yield cluster
