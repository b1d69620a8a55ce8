"""The command line as a stranger reads it."""

from __future__ import annotations

import re

import pytest
from click import Option
from click.testing import CliRunner

from nmt.cli import commands, groups, sections, subcommand, subcommands
from tests.messages import check
from tests.running import ROOT


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


def test_the_groups_are_what_rules_and_documentation_call() -> None:
    files = [*ROOT.glob("workflow/rules/*.smk"), ROOT / "docs" / "library.md"]
    rules = "".join(path.read_text(encoding="utf-8") for path in files)
    assert {words for words in subcommands() if " " in words} == {
        words for words in re.findall(r"\bnmt ([a-z0-9-]+ [a-z0-9-]+) ", rules) if words in subcommands()
    }


@pytest.mark.parametrize("words", ["tranlate", "decode", "lm-train", "data tokenise", "figure figure2"])
def test_a_mistyped_or_moved_name_gets_a_suggestion(words: str) -> None:
    result = CliRunner().invoke(commands, words.split(), prog_name="nmt")
    assert result.exit_code == 2
    check(result.output.splitlines()[-1])


@pytest.mark.parametrize("words", subcommands())
def test_every_subcommand_has_help_in_sentences(words: str) -> None:
    command = subcommand(words)
    assert command.help and command.help.rstrip().endswith(".")
    for option in command.params:
        if isinstance(option, Option):
            assert option.help and option.help.endswith("."), (words, option.name)
