"""The value of `--settings`: JSON or a file, and what is said of a wrong one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmt.cli import commands
from nmt.cli.options import parse_settings
from nmt.errors import UserError
from pipeline.config.artifacts import Report
from tests.report_settings import report_settings

SETTINGS = report_settings({"m": "Model"})


def test_settings_are_json_or_the_path_of_a_json_file(tmp_path: Path) -> None:
    text = json.dumps(SETTINGS)
    (tmp_path / "settings.json").write_text(text, encoding="utf-8")
    assert parse_settings(Report, text) == parse_settings(Report, str(tmp_path / "settings.json"))


def test_wrong_settings_are_named_by_their_key_or_their_file() -> None:
    with pytest.raises(
        UserError, match="--settings: figure2_windw: unknown key; did you mean `figure2_window`"
    ):
        parse_settings(Report, json.dumps(SETTINGS | {"figure2_windw": 3}))
    with pytest.raises(UserError, match=r"--settings nothing\.json: no such file"):
        parse_settings(Report, "nothing.json")


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
