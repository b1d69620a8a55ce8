"""What the tests share."""

import os
import resource
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from tests.plans import Plans

# Property tests try few inputs by default, `make fuzz` many more (--hypothesis-profile=long). Neither has a time limit
# per input: the machine may be busy.
settings.register_profile(
    "bounded", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long",
    settings.get_profile("bounded"),
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "1000")),
    print_blob=True,
)
settings.load_profile("bounded")


@pytest.fixture(params=MODEL_TYPES)
def model_type(request: pytest.FixtureRequest) -> ModelTypeName:
    """Every model type."""
    value = request.param
    return value


@pytest.fixture(scope="session")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Plans:
    """Dry-runs of the experiments."""
    return Plans(tmp_path_factory)


MOST_MEMORY = 8 << 30


@pytest.fixture(autouse=True, scope="session")
def _bounded_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """What random input makes too large in `make fuzz` is a failed test, and no machine without memory."""
    if request.config.option.markexpr != "fuzz":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
