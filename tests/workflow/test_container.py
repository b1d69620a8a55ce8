"""Jobs run in the container once it is switched on; a weekly job builds it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.running import ROOT, list_subcommands, make_demo, run, snakemake_command

CONTAINER = ROOT / "container"
CALLERS = [
    *CONTAINER.glob("*"),
    *ROOT.glob("workflow/**/*.sh"),
    *ROOT.glob("workflow/rules/*"),
    ROOT / "Makefile",
]
CALL = re.compile(r"""(?:^\s*|["/]|:q\} )nmt ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?""", re.MULTILINE)


def test_called_subcommands_exist():
    found = [call for file in CALLERS for call in CALL.findall(file.read_text(encoding="utf-8"))]
    assert len(found) > 10
    assert not [call for call in found if not {call[0], " ".join(call)} & set(list_subcommands())]


def test_container_recipes_have_the_same_base():
    recipes = [(CONTAINER / name).read_text(encoding="utf-8") for name in ("Dockerfile", "nmt.def")]
    docker_bases, apptainer_bases = (re.findall(r"@sha256:\w{64}", recipe) for recipe in recipes)
    assert docker_bases == apptainer_bases != []


APPTAINER = """#!/bin/sh
# Runs what it is given here and keeps what it was asked: `apptainer exec --home HOME [--option...] IMAGE bash -c LINE`.
case "$1" in --version) echo "apptainer version 1.3.6"; exit ;; esac
echo "$@" >> "$ASKED"
while [ "$1" != bash ]; do shift; done
exec "$@"
"""


def test_jobs_run_in_the_container(tmp_path):
    overlay = make_demo(tmp_path)
    program = tmp_path / "bin" / "apptainer"
    program.parent.mkdir()
    program.write_text(APPTAINER, encoding="utf-8")
    program.chmod(0o755)
    paths = [str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(paths), "ASKED": str(tmp_path / "asked")}
    options = ["--cores", "1", "--sdm", "apptainer", "--configfile", str(overlay)]
    options += ["--", "data/raw/demo-dev/0.en.zst"]
    result = subprocess.run(
        snakemake_command(tmp_path, *options),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    image = os.path.relpath(CONTAINER / "nmt.sif", tmp_path)
    lines = (tmp_path / "asked").read_text(encoding="utf-8").split("\n")
    (asked,) = [line for line in lines if " exec " in f" {line}"]
    assert image in asked.split()
    assert f"--bind {ROOT}" in asked  # the code, also where the experiment lies elsewhere
    assert sys.executable not in asked  # the image has a Python of its own

    without_container = [option for option in options if option not in ("--sdm", "apptainer")]
    assert "Nothing to be done" in run(snakemake_command(tmp_path, "-n", *without_container)).stdout
