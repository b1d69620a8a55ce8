"""The command line as a stranger reads it."""

from __future__ import annotations

import re

import pytest
from click import Option
from click.testing import CliRunner

from nmt.cli import commands, groups, sections, subcommand, subcommands


def shown(*words: str) -> str:
    """What the command prints, in one line; words that a line's end cuts after a hyphen are whole."""
    result = CliRunner().invoke(commands, [*words], prog_name="nmt")
    assert result.exit_code == 0, result.output
    return " ".join(re.sub(r"(?<=\w)-\n +", "-", result.output).split())


def test_the_help_shows_every_subcommand_once_with_its_first_sentence_whole() -> None:
    people = {name: "" for section in sections().values() for name in section}
    assert people.keys().isdisjoint(groups()) and len(subcommands()) == len({*subcommands().values()})
    for group in ("", *groups()):
        text = shown(*group.split(), "--help")
        assert "..." not in text.partition("Options:")[2]
        for name in groups().get(group, people):
            first = subcommand(f"{group} {name}".strip()).get_short_help_str(1000)
            assert f" {name} {first}" in text
    for heading in sections():
        assert f" {heading}: " in shown("--help")


@pytest.mark.parametrize("words", subcommands())
def test_every_subcommand_has_help_in_sentences(words: str) -> None:
    command = subcommand(words)
    assert command.help and command.help.rstrip().endswith(".")
    for option in command.params:
        if isinstance(option, Option):
            assert option.help and option.help.endswith("."), (words, option.name)
