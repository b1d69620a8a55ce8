"""What the tests share."""

from __future__ import annotations

import pytest

from nmt.config.families import FAMILIES, FamilyName


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> FamilyName:
    """Every family."""
    value: FamilyName = request.param
    return value
