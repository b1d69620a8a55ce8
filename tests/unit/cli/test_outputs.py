"""No subcommand writes over what it reads, nor two results into one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from nmt.cli import commands, subcommand, subcommands
from nmt.cli.outputs import Written, refuse_same
from nmt.errors import UserError
from tests.messages import check


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("source", "lists", "reference"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8")
    (tmp_path / "link").symlink_to("lists")
    (tmp_path / "x").mkdir()
    for shard in "01":
        (tmp_path / "x" / shard).write_text("text\n", encoding="utf-8")
    (tmp_path / "model").mkdir()
    (tmp_path / "bitext").mkdir()
    for name in ("model/source.tsv", "model/final_state.safetensors", "bitext/meta.json"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8")
    return tmp_path


def call(line: str) -> Result:
    return CliRunner().invoke(commands, line.split())


ORACLE = "test-set oracle --source source --lists lists --reference reference --output "
RESCORE = "test-set rescore --model model --source source --lists lists --output "


@pytest.mark.parametrize(
    "line",
    [
        f"{ORACLE}lists",
        f"{ORACLE}./link",
        f"{RESCORE}lists",
        f"{RESCORE}best --output-lists model/../source",
        f"{RESCORE}best --output-lists ./best",
        f"{RESCORE}model/source.tsv",
        "data tokenize --language en --settings {} source source",
        "data tokenize --language en --settings lists source lists",
        "data vocabulary --words 9 source lists --output lists",
        "shortlist --model model --bitext bitext --output bitext/meta.json",
        "train --train bitext --dev bitext --source-vocabulary source --target-vocabulary source --state state"
            " --settings {} --continue-from model/final_state.safetensors --output model",
        "data vocabulary --words 9 --corpus x 2 {shard} --output x/1",
    ],
    ids=[*range(10), 12, 13],
)  # fmt: skip
def test_an_output_is_neither_an_input_nor_another_output(files: Path, line: str) -> None:
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    result = call(line)
    assert isinstance(result.exception, UserError)
    check(result.exception)
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


def _paths(command: click.Command) -> list[tuple[click.Parameter, Any]]:
    """The parameters that name files, each with how a file becomes a value of it."""
    found: list[tuple[click.Parameter, Any]] = []
    for parameter in command.params:
        kinds = parameter.type.types if isinstance(parameter.type, click.Tuple) else [parameter.type]
        if any(isinstance(kind, click.Path) for kind in kinds):
            found.append((parameter, lambda path, kinds=kinds: ((*("x" for _ in kinds[1:]), path),)))
    return found


@pytest.mark.parametrize("name", subcommands())
def test_this_holds_for_every_file_of_every_subcommand(name: str, files: Path) -> None:
    command = subcommand(name)
    written = {
        parameter.name: make
        for parameter, make in _paths(command)
        if str(parameter.name).startswith("output")
        or any(isinstance(kind, Written) for kind in getattr(parameter.type, "types", [parameter.type]))
    }
    read = {parameter.name: make for parameter, make in _paths(command) if parameter.name not in written}
    for output in written:
        for input, make in read.items():
            with pytest.raises(UserError, match="is an input"):
                refuse_same(command, {output: written[output](files / "lists"), input: make(files / "lists")})
    for output, other in zip(written, [*written][1:], strict=False):
        with pytest.raises(UserError, match=", too; name another file"):
            refuse_same(command, {each: written[each](files / "new") for each in (output, other)})


def test_devices_are_written_as_often_as_one_likes(files: Path) -> None:
    os.mkfifo(files / "pipe")
    for device in (Path("/dev/zero"), files / "pipe"):
        refuse_same(subcommand("test-set rescore"), {"output": device, "output_lists": device})
    refuse_same(subcommand("score"), {"source": Path("/dev/stdin"), "output": Path("/dev/stdout")})
