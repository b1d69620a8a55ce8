"""KenLM's programs for tests: those on the PATH, or built once for the checkout."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.selection.kenlm_build import provide
from tests.running import ROOT

PROGRAMS = ROOT / ".kenlm"
"""Where the workflow puts them, too."""


@functools.cache
def _provided() -> str | None:
    """Why they cannot be had, if they cannot."""
    try:
        provide(PROGRAMS, jobs=2)
    except UserError as error:
        return str(error)
    return None


def programs() -> Path:
    """Folder of lmplz and build_binary; skips, and says what is missing, where they cannot be built."""
    problem = _provided()
    if problem:
        pytest.skip(problem)
    return PROGRAMS
