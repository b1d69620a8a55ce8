"""The command line: its help, its environment, and its check that no output is an input or another output."""

import os
import re
import signal
import sys

import pytest
from click.testing import CliRunner

from nmt.cli import commands, main
from nmt.errors import UserError
from tests.running import ROOT, list_subcommands, nmt, run_python
from tests.training_settings import decoding


def read_help(*words: str) -> str:
    """Return the help of a command as one line. Words that were broken after a hyphen are joined."""
    result = CliRunner().invoke(commands, [*words, "--help"], prog_name="nmt")
    assert result.exit_code == 0, result.output
    return " ".join(re.sub(r"(?<=\w)-\n +", "-", result.output).split())


def test_help_lists_every_subcommand():
    for words, command in list_subcommands().items():
        *group, name = words.split()
        assert f" {name} {command.get_short_help_str(1000)}" in read_help(*group)


CODE = """\
import nmt.cli
def plot(**options):
    from matplotlib import pyplot
    pyplot.figure()
nmt.cli.commands = plot
nmt.cli.main()
"""


def test_backend_of_a_notebook_is_ignored():
    result = run_python("-c", CODE, env={"MPLBACKEND": "module://nowhere.backend_inline"})
    assert result.returncode == 0, result.stderr


def test_modules_of_working_folder_are_ignored(tmp_path):
    for name in ("random", "json", "torch"):
        (tmp_path / f"{name}.py").write_text("1 / 0\n", encoding="utf-8")
    assert nmt("score", "--help", cwd=tmp_path).returncode == 0
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
def test_output_over_input_is_refused(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    for name in ("source", "lists", "reference"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "link").symlink_to("lists")
    result = CliRunner().invoke(commands, line.split())
    assert isinstance(result.exception, UserError) and "name a different file" in str(result.exception)
    assert all((tmp_path / name).read_text() == name for name in ("source", "lists", "reference"))


@pytest.mark.parametrize(
    "line",
    [
        f"test-set decode --model model --source source --settings {decoding().model_dump_json()} "
        "--output /dev/stdout",
        f"{RESCORE}/dev/null --output-lists new",
        f"{RESCORE}best".replace(" lists", " pipe"),
        f"{RESCORE}best".replace(" source", " pipe"),
    ],
)
def test_pipe_or_device_in_place_of_file_is_refused(tmp_path, monkeypatch, line):
    """Where a file is read twice, or another file is written beside it."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for name in ("source", "lists"):
        (tmp_path / name).touch()
    result = CliRunner().invoke(commands, line.split())
    assert isinstance(result.exception, UserError) and ": expected a file" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("trnaslate", "did you mean `translate`?"),
        ("translate --modle x", "--model"),
        ("status experiments/dmeo", "did you mean `demo`?"),
        ("translate --model experiments", "expected a model's folder"),
    ],
)
def test_mistyped_word_is_one_line(words, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["nmt", *words.split()])
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit, match="2"):
        main()
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and error.count("\n") == 1
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN, "a closed pipe would end the tests that follow"
