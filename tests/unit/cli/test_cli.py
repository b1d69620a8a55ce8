"""The command line as a stranger reads it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from click.testing import CliRunner

from nmt.cli import DESCRIPTIONS, available, commands, subcommand, subcommands
from tests.running import ROOT


def shown(*words: str) -> str:
    """What the command prints, in one line; words that a line's end cuts after a hyphen are whole."""
    result = CliRunner().invoke(commands, [*words], prog_name="nmt")
    assert result.exit_code == 0, result.output
    return " ".join(re.sub(r"(?<=\w)-\n +", "-", result.output).split())


def test_the_help_shows_every_subcommand_once_with_its_first_sentence_whole() -> None:
    assert len(subcommands()) == len({*subcommands().values()})
    for heading, names in available().items():
        assert f" {heading}: " in shown("--help")
        for words in names:
            *group, name = words.split()
            text = shown(*group, "--help")
            assert f" {name} {subcommand(words).get_short_help_str(1000)}" in text
            assert not group or f" {group[0]} {DESCRIPTIONS[group[0]]}" in shown("--help")


CODE = (
    "import nmt.cli as c; c.commands = lambda **_: __import__('matplotlib.pyplot').pyplot.figure(); c.main()"
)


def test_a_notebook_s_backend_for_figures_is_not_that_of_a_command() -> None:
    environment = {**os.environ, "MPLBACKEND": "module://nowhere.backend_inline"}
    found = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True)
    assert found.returncode == 0, found.stderr.decode()
