"""Variables of the user's that would act when a command imports what it needs."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.running import ROOT

CODE = (
    "import nmt.cli as c; c.commands = lambda **_: __import__('matplotlib.pyplot').pyplot.figure(); c.main()"
)


def test_a_notebook_s_backend_for_figures_is_not_that_of_a_command() -> None:
    environment = {**os.environ, "MPLBACKEND": "module://nowhere.backend_inline"}
    found = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True)
    assert found.returncode == 0, found.stderr.decode()
