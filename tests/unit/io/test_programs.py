"""Programs that are called come to an end."""

from __future__ import annotations

import pytest

from nmt.errors import UserError
from nmt.io import system as programs


def test_a_program_that_hangs_is_ended_and_named() -> None:
    with pytest.raises(UserError, match="cmake hangs: error: no end after"):
        programs.run(["sleep", "60"], "cmake hangs", limit=0.1)
