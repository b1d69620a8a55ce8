"""The command line as a stranger reads it."""

from __future__ import annotations

import re

import pytest
from click import Option
from click.testing import CliRunner

from nmt.cli import STEPS, commands, sections, subcommands
from nmt.io.environment import REPOSITORY
from pipeline import cli as pipeline_cli


def shown(*words: str) -> str:
    """What the command prints, in one line."""
    result = CliRunner().invoke(commands, [*words], prog_name="nmt")
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_the_help_shows_every_subcommand_once_with_its_first_sentence_whole() -> None:
    text = shown("--help")
    assert len(subcommands()) == sum(map(len, sections().values())), "a subcommand stands under two headings"
    assert "..." not in text.partition("Options:")[2]
    for heading in sections():
        assert f" {heading}: " in text
    for subcommand in subcommands():
        command = commands.get_command(None, subcommand)  # type: ignore[arg-type]  # not looked at
        assert command is not None and f" {subcommand} {command.get_short_help_str(1000)}" in text


def test_the_help_begins_with_what_people_call() -> None:
    rules = "".join(path.read_text(encoding="utf-8") for path in REPOSITORY.glob("workflow/rules/*.smk"))
    called = set(re.findall(r"\bnmt ([a-z0-9-]+) ", rules))
    steps = [name for section in {**STEPS, **pipeline_cli.STEPS}.values() for name in section]
    assert list(subcommands())[-len(steps) :] == steps
    assert set(steps) <= called


@pytest.mark.parametrize("subcommand", subcommands())
def test_every_subcommand_has_help_in_sentences(subcommand: str) -> None:
    command = commands.get_command(None, subcommand)  # type: ignore[arg-type]  # not looked at
    assert command is not None and command.help and command.help.rstrip().endswith(".")
    for option in command.params:
        if isinstance(option, Option) and option.help:
            assert option.help.endswith("."), (subcommand, option.name)
