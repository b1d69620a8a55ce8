"""No subcommand writes over what it reads, nor two results into one file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmt.cli import commands
from nmt.errors import UserError

ORACLE = "test-set oracle --source source --lists lists --reference reference --output "
RESCORE = "test-set rescore --model model --source source --lists lists --output "


@pytest.mark.parametrize(
    "line",
    [
        f"{ORACLE}lists",
        f"{ORACLE}./link",
        f"{RESCORE}best --output-lists model/../source",
        f"{RESCORE}best --output-lists ./best",
        "data tokenize --language en source source",
        "data vocabulary --words 9 source lists --output lists",
    ],
)
def test_an_output_is_neither_an_input_nor_another_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    for name in ("source", "lists", "reference"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "link").symlink_to("lists")
    result = CliRunner().invoke(commands, line.split())
    assert isinstance(result.exception, UserError) and "name another file" in str(result.exception)
    assert all((tmp_path / name).read_text() == name for name in ("source", "lists", "reference"))


def test_devices_are_written_as_often_as_one_likes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "lists").touch()
    line = f"{RESCORE}{tmp_path / 'pipe'} --output-lists {tmp_path / 'pipe'}"
    for name in ("source", "lists"):
        line = line.replace(f" {name} ", f" {tmp_path / 'lists'} ")
    result = CliRunner().invoke(commands, line.split())
    assert "another file" not in str(result.exception)
