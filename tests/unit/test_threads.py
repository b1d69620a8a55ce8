"""What torch's libraries are told in every process of the project: how threads wait, what is kept, which pages."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, "5000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")],
)
def test_torch_s_openmp_is_told_unless_the_user_has_said_something(given: dict[str, str], spins: str) -> None:
    named = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}
    environment = {key: value for key, value in os.environ.items() if key not in named}
    done = subprocess.run(
        [sys.executable, "-c", "import nmt, torch"],
        env=environment | given | {"OMP_DISPLAY_ENV": "VERBOSE"},
        capture_output=True,
        text=True,
        check=True,
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("this torch has another OpenMP")
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr
