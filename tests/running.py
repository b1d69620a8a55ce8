"""How tests start Snakemake and tools/run.py: as a user does, in a process of their own."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import psutil
import pytest

from nmt.cli import commands
from nmt.io import system

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "experiments" / "paper"
MIRROR = Path(os.environ.get("NMT_TEST_MIRROR", ROOT / "no mirror"))
"""A folder with real archives under their official paths; tests that need them skip without."""


def hanging(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program first on PATH that never answers, and let nothing wait long for its answer."""
    (folder / name).write_text("#!/bin/sh\nexec sleep 60\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(system, "ANSWER_SECONDS", 0.2)


TINY = """
# The demo, shrunk until it runs in seconds: what it learns does not matter.
corpora:
  demo-train: {grammar: {split: train, pairs: 400}, shards: 2}
  demo-dev: {grammar: {split: dev, pairs: 20}}
  demo-test: {grammar: {split: test, pairs: 30}}
vocabulary: {words: 300}
architecture: {hidden_units: 8, embedding_size: 8, maxout_units: 8, alignment_units: 8}
training:
  batch_size: 10
  batches_per_sort: 2
  validate_every: 5
  checkpoint_every: 5
  log_every: 5
  train_sample: 20
models:
  rnnencdec-30: {training: {updates: 10}}
  rnnsearch-30: {training: {updates: 10}}
  rnnencdec-50: {training: {updates: 10}}
  rnnsearch-50: {training: {updates: 10}}
  rnnsearch-50-star: {training: {updates: 20}}
# such models end few sentences, in a wide beam neither
decoding: {beam: 2, n_best: 1, max_beam: 4}
"""


def snakemake_command(directory: Path, *options: str) -> list[str]:
    """Snakemake on the project's Snakefile, with `directory` as the experiment: without settings, the paper's."""
    if not (directory / "config.yaml").exists():
        (directory / "config.yaml").write_text(f"extends: {PAPER}\n", encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    return [*command, "--directory", str(directory), *options]


def snakemake(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake from the repository's root; standard output and error come as one text."""
    return run(snakemake_command(directory, *options))


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command from the repository's root; standard output and error come as one text."""
    return subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )


def run_python(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, from the repository's root or another folder.

    options: as of `subprocess.run`; `env` has the variables that differ from this process.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    defaults = {"cwd": ROOT, "capture_output": True, "text": True, "env": environment, "timeout": 300}
    return subprocess.run([sys.executable, *map(str, arguments)], **(defaults | options))


def nmt(*arguments: object, hash_seed: str = "1", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a subcommand in a process of its own; see `run_python`."""
    return run_python("-m", "nmt", *arguments, env={"PYTHONHASHSEED": hash_seed}, **options)


def list_subcommands() -> dict[str, click.Command]:
    """Return all subcommands by their words: "translate", "data tokenize"."""
    context = click.Context(commands)
    subcommands = {}
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            for word in command.list_commands(context):
                subcommands[f"{name} {word}"] = command.get_command(context, word)
        else:
            subcommands[name] = command
    return subcommands


def processes_in(folder: Path, *words: str) -> list[psutil.Process]:
    """This Python's processes that work in a folder and have these words in their command."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        line = process.info["cmdline"] or []
        if process.info["cwd"] == str(folder) and line[:1] == [sys.executable] and set(words) <= set(line):
            found.append(process)
    return found


def ends(pid: int) -> bool:
    """Whether a process ends in a minute. After a kill it is still seen for a moment."""
    last = time.monotonic() + 60
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > last:
                return False
            time.sleep(0.1)
    return True


def outside_make() -> dict[str, str]:
    """The environment without what the make that runs these tests has set."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    values = re.findall(r"^VALUES := (.+)$", makefile, flags=re.MULTILINE)[0].split()
    told = {"MFLAGS", "OPTIONS", *values}
    return {
        name: value for name, value in os.environ.items() if name not in told and not name.startswith("MAKE")
    }


def build_wheel(project: Path) -> Path:
    """The wheel of a project, made beside its folder."""
    build = "import setuptools.build_meta as build; build.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=project, check=True, capture_output=True)
    (wheel,) = project.parent.glob("*.whl")
    return wheel


def run_command(directory: Path, *options: str) -> list[str]:
    """What `make demo` and its like call."""
    return [sys.executable, str(ROOT / "tools" / "run.py"), "--cores", "2", str(directory), *options]


def make_demo(folder: Path) -> Path:
    """An experiment's folder with the demo's settings and the tiny overlay beside them; returns the overlay."""
    folder.mkdir(parents=True, exist_ok=True)
    demo = ROOT / "experiments" / "demo" / "config.yaml"
    text = demo.read_text(encoding="utf-8").replace("extends: ../paper", f"extends: {PAPER}")
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    overlay = folder / "tiny.yaml"
    overlay.write_text(f"{TINY}playground: {{models: []}}\n", encoding="utf-8")
    return overlay


def trained_on(corpora: dict[str, Any]) -> dict[str, Any]:
    """Settings of an experiment on some corpora, all of whose text is used; the grammar writes the other text."""
    held_out = {split: {"grammar": {"split": split, "pairs": 5}} for split in ("dev", "test")}
    use = {"train": [*corpora], "dev": ["dev"], "test": ["test"]}
    return {
        "extends": str(PAPER),
        "corpora": held_out | corpora,
        "use": use,
        "selection": {"enabled": False},
    }


def scheduled(output: str, name: str) -> list[str]:
    """The blocks of a dry-run's output that describe jobs of one rule."""
    blocks = re.split(r"\n *\[", output)  # further in where several are sent to a cluster as one
    return [block for block in blocks if re.search(rf"\n *(local)?rule {re.escape(name)}:", block)]


SLURM_PROGRAMS = {"sinfo", "sbatch", "squeue", "scontrol", "sacct", "sacctmgr", "sshare", "scancel", "srun"}


def slurm_of(folder: Path, *nodes: str) -> Path:
    """A folder of programs: a `sinfo` that tells of these nodes, and a `squeue`, without which nothing is sent.

    A real Slurm is asked in tests/slurm.
    """
    programs = folder / "slurm"
    programs.mkdir()
    for name, lines in {"sinfo": nodes, "squeue": ()}.items():
        (programs / name).write_text("\n".join(["#!/bin/sh", *(f"echo '{line}'" for line in lines), ""]))
        (programs / name).chmod(0o755)
    return programs


def programs_but(folder: Path, missing: set[str]) -> Path:
    """A folder of links to all programs on the path but the missing ones: the path of a machine without these."""
    links = folder / "programs"
    links.mkdir()
    for place in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in place.iterdir() if place.is_dir() else ():
            if program.name not in missing and not (links / program.name).is_symlink():
                (links / program.name).symlink_to(program.absolute())
    assert not any(shutil.which(name, path=str(links)) for name in missing)
    return links
