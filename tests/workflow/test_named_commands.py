"""What pages, settings, messages and docstrings name as a command exists, with its options."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.cli import groups, subcommand, subcommands
from tests.pages import PAGES, commands, spans
from tests.running import ROOT

TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))


def others() -> list[Path]:
    """Code, rules and settings, which name commands in backquotes."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.smk", "*.yaml", "*.sh", "Makefile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("no git checkout")
    return [Path(name) for name in listed.stdout.split("\n") if name and not name.startswith("tests/")]


def named(page: Path) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [*(commands(page) if page.suffix == ".md" else []), *spans(text)]


def faults(command: str) -> Iterator[str]:
    """What does not exist of a command's pieces: make targets, subcommands, options."""
    for piece in re.split("[|;&]", command):
        made = re.match(r"\s*make ([A-Z]+=(?:\"[^\"]*\"|\S+) )*([a-z0-9-]+)", piece)
        if made and made[2] not in TARGETS:
            yield f"make {made[2]}"
        if (called := re.match(r"\s*(?:\.venv/bin/)?nmt ([^-].*)", piece)) and (words := split(called[1])):
            yield from faults_of(words)


def split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError:
        return words.split()


def faults_of(words: list[str]) -> Iterator[str]:
    length = 2 if words[0] in groups() else 1
    name = " ".join(words[:length])
    if name not in subcommands():
        if re.fullmatch(r"[a-z-]+( [a-z-]+)?", name) and name not in groups():
            yield f"nmt {name}"
        return
    known = {option for parameter in subcommand(name).params for option in parameter.opts} | {"--help"}
    for word in words[length:]:
        if re.match(r"--[a-z]", word) and (option := word.partition("=")[0]) not in known:
            yield f"nmt {name} {option}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_what_a_page_names_exists(page: Path) -> None:
    assert [fault for command in named(page) for fault in faults(command)] == []


def test_what_code_and_settings_name_exists() -> None:
    assert {
        str(path): wrong for path in others() if (wrong := [f for c in named(path) for f in faults(c)])
    } == {}


def test_what_does_not_exist_is_found() -> None:
    assert [*faults("make dmo")] == ["make dmo"]
    assert [*faults("echo x | nmt translate --model m --bean 3")] == ["nmt translate --bean"]
    assert [*faults("nmt decode --model m")] == ["nmt decode"]
    assert [*faults("nmt test-set decoded")] == ["nmt test-set decoded"]
