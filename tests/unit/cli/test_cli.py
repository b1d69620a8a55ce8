"""The command line as a stranger reads it; no subcommand writes over what it reads, nor two results into one file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmt.cli import DESCRIPTIONS, commands, find_commands, list_subcommands, load_subcommand
from nmt.errors import UserError
from tests.running import ROOT, nmt


def shown(*words: str) -> str:
    """What the command prints, in one line; words that a line's end cuts after a hyphen are whole."""
    result = CliRunner().invoke(commands, [*words], prog_name="nmt")
    assert result.exit_code == 0, result.output
    return " ".join(re.sub(r"(?<=\w)-\n +", "-", result.output).split())


def test_the_help_shows_every_subcommand_once_with_its_first_sentence_whole() -> None:
    assert len(list_subcommands()) == len({*list_subcommands().values()})
    for heading, names in find_commands().items():
        assert f" {heading}: " in shown("--help")
        for words in names:
            *group, name = words.split()
            text = shown(*group, "--help")
            assert f" {name} {load_subcommand(words).get_short_help_str(1000)}" in text
            assert not group or f" {group[0]} {DESCRIPTIONS[group[0]]}" in shown("--help")


CODE = (
    "import nmt.cli as c; c.commands = lambda **_: __import__('matplotlib.pyplot').pyplot.figure(); c.main()"
)


def test_a_notebook_s_backend_for_figures_is_not_that_of_a_command() -> None:
    environment = {**os.environ, "MPLBACKEND": "module://nowhere.backend_inline"}
    found = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True)
    assert found.returncode == 0, found.stderr.decode()


def test_modules_in_the_working_folder_are_not_python_s(tmp_path: Path) -> None:
    for name in ("random", "json", "torch"):
        (tmp_path / f"{name}.py").write_text("1 / 0\n", encoding="utf-8")
    assert nmt("shortlist", "--help", cwd=tmp_path).returncode == 0
    assert nmt("translate", "--model", "none", cwd=tmp_path).returncode == 2


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
