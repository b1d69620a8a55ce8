"""Values of options beyond what the machine can hold."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from nmt.cli import commands
from tests.messages import check


@pytest.mark.parametrize(
    "words",
    [
        "translate --beam-size 1000000",
        f"translate --n-best 1{'0' * 30}",
        "translate --threads 2147483648",
        "translate --batch-size 0",
        "tree a --output a.svg --least nan",
    ],
)
def test_numbers_beyond_memory_and_what_is_none_are_refused_by_the_command_line(words: str) -> None:
    result = CliRunner().invoke(commands, [*words.split(), "--model", "none"], prog_name="nmt")
    assert result.exit_code == 2
    check(result.output.splitlines()[-1])
