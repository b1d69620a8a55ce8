"""Programs that are called come to an end."""

from __future__ import annotations

import subprocess

import pytest

from nmt.cli import in_one_line
from nmt.errors import UserError
from nmt.io import system as programs


def test_a_program_that_hangs_is_ended_and_named() -> None:
    with pytest.raises(UserError, match="cmake hangs: no end after"):
        programs.run(["sleep", "60"], "cmake hangs", limit=0.1)


def test_a_program_that_is_written_to_is_ended_too() -> None:
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE) as process, programs.limited(process, 0.1):
        assert process.wait(30)


def test_a_limit_that_was_reached_is_one_line() -> None:
    assert "timed out" in (in_one_line(subprocess.TimeoutExpired(["sleep", "60"], 3)) or "")
