"""Environments and container recipes hold what the jobs in them need, at the versions of the lock file."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from nmt.cli import groups, subcommands
from tests.running import ROOT, make_demo, snakemake_command
from tests.workflow.test_house import DISTRIBUTIONS, SHARED, pins

RULES = [file for file in sorted((ROOT / "workflow" / "rules").glob("*.smk")) if file.name not in SHARED]
CONTAINER = ROOT / "container"


def environments() -> Iterator[tuple[str, str]]:
    """Each environment with a subcommand of `nmt` that a rule calls in it."""
    for file in RULES:
        for body in re.split(r"^ *rule[^:\n]*:\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            for environment in re.findall(r'"\.\./\.\./envs/(\w+\.yaml)"', body):
                for subcommand in re.findall(r'"nmt ((?:[a-z0-9-]+ )+)', body):
                    words = subcommand.split()
                    yield environment, " ".join(words[: 2 if words[0] in groups() else 1])


def imported(node: ast.AST, nested: bool) -> set[str]:
    """Modules that code imports; with `nested` also inside of functions."""
    nodes = ast.walk(node) if nested else ast.iter_child_nodes(node)
    found: set[str] = set()
    for inner in nodes:
        if isinstance(inner, ast.Import):
            found |= {alias.name for alias in inner.names}
        elif isinstance(inner, ast.ImportFrom):
            found |= {str(inner.module)} | {f"{inner.module}.{alias.name}" for alias in inner.names}
    return found


def file_of(module: str) -> Path | None:
    path = ROOT / f"{module.replace('.', '/')}.py"
    package = path.with_suffix("") / "__init__.py"
    return path if path.exists() else package if package.exists() else None


def needed(subcommand: str) -> set[str]:
    """Packages that a subcommand may import: its own function's, and all of the modules that it reaches."""
    module, _, name = subcommands()[subcommand].partition(":")
    cli = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    (function,) = [node for node in cli.body if isinstance(node, ast.FunctionDef) and node.name == name]
    waiting, seen, packages = imported(cli, nested=False) | imported(function, nested=True), set(), set()
    while waiting:
        module = waiting.pop()
        if module == "nmt":
            continue  # looks up `nmt.load` only when it is called
        if module.split(".")[0] not in ("nmt", "pipeline"):
            packages.add(module.split(".")[0])
        elif module not in seen and (file := file_of(module)):
            seen.add(module)
            waiting |= imported(ast.parse(file.read_text(encoding="utf-8")), nested=True)
    return packages - set(sys.stdlib_module_names) - {"triton"}  # PyTorch brings it where it can be used


@pytest.mark.parametrize(("environment", "subcommand"), sorted(set(environments())))
def test_an_environment_has_what_its_subcommands_import(environment: str, subcommand: str) -> None:
    listed = pins((ROOT / "envs" / environment).read_text(encoding="utf-8").split("\n"))
    lacking = {DISTRIBUTIONS.get(name, name).lower() for name in needed(subcommand)} - set(listed)
    assert not lacking, f"envs/{environment} lacks what `nmt {subcommand}` imports"


def test_every_environment_is_used() -> None:
    used = {environment for environment, _ in environments()}
    assert used == {path.name for path in (ROOT / "envs").glob("*.yaml")}


def test_both_recipes_install_the_same_on_the_same_python() -> None:
    docker = (CONTAINER / "Dockerfile").read_text(encoding="utf-8")
    apptainer = (CONTAINER / "nmt.def").read_text(encoding="utf-8")
    ((base, digest),) = re.findall(r"^FROM (\S+)@(sha256:[0-9a-f]{64})$", docker, flags=re.MULTILINE)
    assert re.findall(r"^From: (\S+)$", apptainer, flags=re.MULTILINE) == [f"{base.split(':')[0]}@{digest}"]
    assert f"# The base is {base};" in apptainer
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    assert SpecifierSet(stated).contains(base.removeprefix("python:").split("-")[0])
    for path in (ROOT / "envs").glob("*.yaml"):
        environment = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert f"python {stated}" in environment["dependencies"], path
    copied = {
        word.rstrip("/")
        for line in re.findall(r"^COPY (.*) \S+$", docker, flags=re.M)
        for word in line.split()
    }
    files = re.findall(r"^ {4}(\S+) /opt/nmt/\1$", apptainer, flags=re.MULTILINE)
    assert copied == set(files)
    assert all((ROOT / name).exists() for name in files)
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{name}" for name in files} == {line for line in kept if line.startswith("!")}
    for recipe in (docker, apptainer):
        assert "sh container/install.sh" in recipe


def test_the_container_states_no_version_of_its_own_and_both_scripts_are_sound() -> None:
    script = (CONTAINER / "install.sh").read_text(encoding="utf-8")
    assert "sh workflow/setup.sh" in script and "==" not in script  # versions stand in uv.lock alone
    for name in (CONTAINER / "install.sh", ROOT / "workflow" / "setup.sh"):
        subprocess.run(["sh", "-n", str(name)], check=True)


APPTAINER = """#!/bin/sh
# Runs what it is given here and keeps what it was asked: `apptainer exec --home HOME [--option...] IMAGE bash -c LINE`.
case "$1" in --version) echo "apptainer version 1.3.6"; exit ;; esac
echo "$@" >> "$ASKED"
while [ "$1" != bash ]; do shift; done
exec "$@"
"""


def test_jobs_run_in_the_image_once_containers_are_switched_on(tmp_path: Path) -> None:
    overlay = make_demo(tmp_path)
    program = tmp_path / "bin" / "apptainer"
    program.parent.mkdir()
    program.write_text(APPTAINER, encoding="utf-8")
    program.chmod(0o755)
    paths = [str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(paths), "ASKED": str(tmp_path / "asked")}
    options = [
        "--cores",
        "1",
        "--sdm",
        "apptainer",
        "--configfile",
        str(overlay),
        "--",
        "data/raw/demo-dev/0.en.zst",
    ]
    result = subprocess.run(
        snakemake_command(tmp_path, *options),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    image = os.path.relpath(CONTAINER / "nmt.sif", tmp_path)
    (asked,) = [
        line
        for line in (tmp_path / "asked").read_text(encoding="utf-8").split("\n")
        if " exec " in f" {line}"
    ]
    assert image in asked.split()
