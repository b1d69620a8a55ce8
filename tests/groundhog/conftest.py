"""GroundHog, prepared once; at the end, the largest difference of each thing that was compared is printed."""

from collections.abc import Iterator

import pytest

from tests.groundhog.results import Groundhog


@pytest.fixture(scope="session")
def groundhog(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Groundhog]:
    groundhog = Groundhog(tmp_path_factory.mktemp("groundhog"))
    yield groundhog
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print("\n\ncompared with GroundHog: the largest difference")
        for what, difference in groundhog.compared.items():
            print(f"{difference:9.1e}  {what}")
