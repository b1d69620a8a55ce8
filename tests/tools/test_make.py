"""What make hands to programs is what it was told, whatever characters that has."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.cli.new import format_next_command
from tests.running import ROOT, outside_make

AWKWARD = ["x$(shell touch X)`touch X`", "x'; touch X; \"$(touch X)", "a $HOME b$$c #\\ y*"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the Makefile, where `nmt` and `python` say what they were called with, each word a line."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "uv.lock", "tools/setup.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("nmt", "python"):
        program = tmp_path / ".venv" / "bin" / name
        program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > called\n", encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / ".venv" / "installed").touch()
    return tmp_path


def read_called_words(checkout: Path, *words: str) -> list[str]:
    """The words that make calls a program with."""
    subprocess.run(["make", *words], cwd=checkout, env=outside_make(), check=True, capture_output=True)
    assert not (checkout / "X").exists()
    return (checkout / "called").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("value", AWKWARD)
def test_make_new_passes_values_unchanged(checkout, value):
    values = {name: f"{name}{value}" for name in ("EXPERIMENT", "SOURCE", "TARGET")}
    words = read_called_words(checkout, "new", *(f"{key}={text}" for key, text in values.items()))
    assert words[0] == "new" and words[-4:] == ["--", *values.values()]


@pytest.mark.parametrize("value", AWKWARD)
def test_make_run_passes_values_unchanged(checkout, value):
    words = read_called_words(checkout, "run", f"EXPERIMENT={value}", f"CORES={value}")
    assert words == ["tools/run.py", "--cores", value, value]


@pytest.mark.parametrize("folder", ["own", "a b", "a$b$$c", "it's"])
def test_command_for_a_new_experiment_runs_it(checkout, folder):
    command = ["bash", "-c", format_next_command(Path(folder))]
    subprocess.run(command, cwd=checkout, env=outside_make(), check=True, capture_output=True)
    assert (checkout / "called").read_text(encoding="utf-8").splitlines()[-1] == folder


def test_list_of_targets_fits_and_is_complete(checkout):
    listed = subprocess.run(
        ["make"], cwd=checkout, env=outside_make(), check=True, capture_output=True, text=True
    )
    assert max(map(len, listed.stdout.splitlines())) <= 80
    names = {line.split()[0] for line in listed.stdout.splitlines() if line.startswith("  ")}
    phony = re.findall(
        r"^\.PHONY: (.+)$", (checkout / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert names | {"always", "help"} == set(phony[0].split())


def test_mistyped_target_is_suggested(checkout):
    result = subprocess.run(
        ["make", "dmeo"], cwd=checkout, env=outside_make(), capture_output=True, text=True
    )
    assert "did you mean `demo`" in result.stderr
