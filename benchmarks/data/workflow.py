"""One run of the real workflow over a corpus, and what each of its processes used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.findings import ROOT

USAGE = Path(__file__).parent / "usage"
CORPUS = "europarl-v7"
STAGES = ("raw", "clean", "tokens", "selection", "selected", "vocabulary", "binary")


@dataclass(frozen=True)
class Used:
    """Says what one process used. Memory is in MB of 2^20 bytes."""

    subcommand: str
    seconds: float
    processor_seconds: float
    peak_mb: float
    children_peak_mb: float


@dataclass(frozen=True)
class Run:
    """Holds the measurements of one run from archives to binary text."""

    seconds: float
    used: list[Used]
    disk: dict[str, int]
    """The bytes that each stage leaves on the disk."""


class Failed(Exception):
    """The workflow failed; the message has the last lines of its log."""


def overlay(mirrors: Sequence[Path], shards: int, target_words: int) -> dict[str, Any]:
    """Return the settings of a run over one corpus. Archives are not checked, since grown ones are allowed."""
    unknown = {"bytes": None, "md5": None, "sha256": None}
    return {
        "mirrors": [str(mirror) for mirror in mirrors],
        "archives": {name: unknown for name in (CORPUS, "wmt14-dev", "wmt14-test")},
        "use": {"train": [CORPUS]},
        "corpora": {
            CORPUS: {"shards": shards, "pairs": None},
            "newstest2014": {"source": {"md5": None}, "target": {"md5": None}},
        },
        "selection": {"target_words": target_words},
    }


def build_kenlm() -> None:
    """Build KenLM's programs where the workflow looks for them, so that no run includes the time for it."""
    command = [sys.executable, "-m", "nmt", "selection", "kenlm", "--jobs", str(os.cpu_count() or 1)]
    result = subprocess.run([*command, "--output", str(ROOT / ".kenlm")], check=False)
    if result.returncode:
        raise Failed("KenLM's programs cannot be built, see above")


def run(folder: Path, settings: dict[str, Any], cores: int) -> Run:
    """Run the data stages in `folder`, which does not exist yet. Raises Failed if the workflow fails."""
    usage = folder / "usage"
    usage.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory"]
    command += [str(folder), "--cores", str(cores), "--", "data"]
    environment = os.environ | {"PYTHONPATH": str(USAGE), "NMT_BENCHMARK_USAGE": str(usage)}
    begin = time.monotonic()
    with (folder / "snakemake.log").open("w+", encoding="utf-8") as log:
        result = subprocess.run(command, env=environment, stdout=log, stderr=log, check=False)
        seconds = time.monotonic() - begin
        if result.returncode:
            log.seek(0)
            lines = log.read().splitlines()[-20:]
            raise Failed("\n".join([f"the run in {folder} failed:", *lines]))
    return Run(seconds, read_usage(usage), {stage: size(folder / "data" / stage) for stage in STAGES})


def read_usage(folder: Path) -> list[Used]:
    """Read the notes that the processes of a run left in a folder."""
    notes = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")))
    return [Used(**{name: note[name] for name in Used.__dataclass_fields__}) for note in notes]


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def of(used: Iterable[Used], subcommand: str) -> list[Used]:
    """Return the processes of one subcommand."""
    return [process for process in used if process.subcommand == subcommand]
