"""The conda environment and the container recipes hold what jobs need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from packaging.specifiers import SpecifierSet

from tests.running import ROOT, make_demo, snakemake_command

CONTAINER = ROOT / "container"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_conda_environment_has_the_bounds_of_the_project() -> None:
    file = ROOT / "envs" / "nmt.yaml"
    *packages, pip = yaml.safe_load(file.read_text(encoding="utf-8"))["dependencies"]
    assert f"python {PROJECT['requires-python']}" in packages
    (project,) = pip["pip"]
    option, place = project.split()  # relative to the file, as conda calls pip beside it
    folder, extra = re.fullmatch(r"(.+)\[(\w+)\]", place).groups()
    assert option == "--editable" and (file.parent / folder).resolve() == ROOT
    assert extra in PROJECT["optional-dependencies"]


def test_both_recipes_install_the_same_on_the_same_python() -> None:
    docker = (CONTAINER / "Dockerfile").read_text(encoding="utf-8")
    apptainer = (CONTAINER / "nmt.def").read_text(encoding="utf-8")
    ((base, digest),) = re.findall(r"^FROM (\S+)@(sha256:[0-9a-f]{64})$", docker, flags=re.MULTILINE)
    assert re.findall(r"^From: (\S+)$", apptainer, flags=re.MULTILINE) == [f"{base.split(':')[0]}@{digest}"]
    assert f"# The base is {base};" in apptainer
    stated = PROJECT["requires-python"]
    assert SpecifierSet(stated).contains(base.removeprefix("python:").split("-")[0])
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
