"""KenLM's programs for tests: those on the PATH, or built once for the checkout."""

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.kenlm import explain_missing_programs, provide_programs
from tests.running import ROOT

PROGRAMS = ROOT / ".kenlm"
"""Where the workflow puts them, too."""


@functools.cache
def programs() -> Path:
    """Their folder; skips, and says what is missing, where they cannot be built."""
    if problem := explain_missing_programs():
        pytest.skip(problem)
    provide_programs(PROGRAMS, parallel_jobs=2)
    return PROGRAMS


def known_words(words: Sequence[str], model: Path) -> set[str]:
    """Which of these words a model has, as KenLM itself says."""
    text = "".join(f"{word}\n" for word in words)
    command = [programs() / "query", "-v", "sentence", model]
    said = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    return {word for word, line in zip(words, said, strict=False) if line.endswith("OOV: 0")}
