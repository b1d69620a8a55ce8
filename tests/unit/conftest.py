"""What the unit tests share."""

from __future__ import annotations

import pytest

from nmt.model.encoder_decoder import Family


@pytest.fixture(params=["rnnencdec", "rnnsearch"])
def family(request: pytest.FixtureRequest) -> Family:
    """Both families."""
    value: Family = request.param
    return value
