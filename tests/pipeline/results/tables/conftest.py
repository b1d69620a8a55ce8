"""Tables of one kind, of the runs of tests/table_inputs.py: Table 1 or 2, as NUMBER of the module says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.table_inputs import five_models, make, settings, several_seeds


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return five_models(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def reported(request: pytest.FixtureRequest, inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of a run that is the paper's."""
    return make(request.module.NUMBER, inputs, tmp_path_factory.mktemp("reported"), settings())


@pytest.fixture(scope="module")
def own(request: pytest.FixtureRequest, inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of another run: reported numbers are at hand but not wanted."""
    return make(request.module.NUMBER, inputs, tmp_path_factory.mktemp("own"), settings(reported=False))


@pytest.fixture(scope="module")
def several(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of a model with three seeds beside one with a single seed."""
    folder = several_seeds(tmp_path_factory.mktemp("several"))
    return make(request.module.NUMBER, folder, folder, settings(reported=False))
