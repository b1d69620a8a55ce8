"""Values of options beyond what the machine can hold."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from nmt.cli import commands


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--beam-size", "1000000"),
        ("--n-best", "1" + "0" * 30),
        ("--threads", "2147483648"),
        ("--batch-size", "0"),
    ],
)
def test_counts_beyond_memory_are_refused_by_the_command_line(option: str, value: str) -> None:
    result = CliRunner().invoke(commands, ["translate", "--model", "none", option, value])
    assert result.exit_code == 2 and f"Invalid value for '{option}'" in result.output


def test_what_is_no_number_is_in_no_range() -> None:
    result = CliRunner().invoke(
        commands, ["tree", "a", "--model", "none", "--output", "a.svg", "--least", "nan"]
    )
    assert result.exit_code == 2 and "Invalid value for '--least': nan is no number" in result.output
