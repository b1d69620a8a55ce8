"""What the tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from nmt.config.families import FAMILIES, FamilyName

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


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> FamilyName:
    """Every family."""
    value: FamilyName = request.param
    return value
