"""What long work needs, looked at before it starts instead of missed hours later, and what it will take."""

from __future__ import annotations

import difflib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt import stages
from nmt.estimate import disk_bytes, in_words, training_left
from nmt.job_status import Folder
from nmt.kenlm_programs import TOOLS, missing_tools, on_path
from nmt.reachability import unreachable
from nmt.settings import Config

SLURM_SECONDS = 15
"""What a scheduler that is asked for its partitions has to answer."""


@dataclass(frozen=True)
class Cluster:
    """Where a cluster's scheduler is to send jobs: names of partitions; empty for its own choice."""

    partitions: frozenset[str] = frozenset()
    gpu_partitions: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Work:
    """What is about to be done.

    rules: the workflow's, that have jobs waiting; runs: to be trained; archives: to be fetched, by their names in the
    catalogue; cluster: where the jobs run, None for this machine.
    """

    rules: frozenset[str]
    runs: tuple[str, ...]
    archives: tuple[str, ...]
    cluster: Cluster | None = None


def work_left(config: Config, path: Path, cluster: Cluster | None = None) -> Work:
    """What the files of an experiment's folder say is left to do."""
    folder = Folder(path)
    runs = list(stages.runs_in_use(config))
    jobs = [job for stage in stages.data_stages(config) for job in stage.jobs]
    for run in runs:
        jobs += [stages.training(run), *(stages.translation(run, mode) for mode in stages.MODES)]
    waiting = [job for job in jobs if not folder.has(job)]
    paths = {job.name for job in waiting if job.rule == "download"}
    return Work(
        rules=frozenset(job.rule for job in waiting),
        runs=tuple(job.name for job in waiting if job.rule == "train"),
        archives=tuple(a for a in stages.archives_in_use(config) if config.archives[a].path in paths),
        cluster=cluster,
    )


# --- what is missing --------------------------------------------------------------------------------------------------


def missing(config: Config, work: Work, folder: Path) -> list[str]:
    """What is lacking for the work that is about to be done, one line each.

    Args:
        config: the run's settings.
        work: what is waiting.
        folder: where the run writes.
    """
    found = [_language_models(work), _gpu(config, work), _disk(config, work, folder)]
    problems = [problem for problem in found if problem]
    return [*problems, *_partitions(work), *_network(config, work)]


def _language_models(work: Work) -> str | None:
    if "kenlm_programs" not in work.rules or on_path() or not (lacking := missing_tools()):
        return None
    verb = "is" if len(lacking) == 1 else "are"
    return (
        f"selection needs KenLM's lmplz and build_binary: not on the path, and to build them {' and '.join(lacking)}"
        f" {verb} missing; install that ({TOOLS}), or say `selection: {{enabled: false}}`"
    )


def _gpu(config: Config, work: Work) -> str | None:
    wanted = {config.models[model].training.device for model in config.use.models} if work.runs else set()
    wanted |= {config.decoding.device} if {"translate", "align", "sweep_model"} & work.rules else set()
    if work.cluster or "cuda" not in wanted or _has_gpu():
        return None
    return (
        "training.device or decoding.device is `cuda`, but this machine shows no NVIDIA GPU: run on a cluster"
        " (--profile slurm), choose a smaller experiment, or say `device: auto`"
    )


def _has_gpu() -> bool:
    """Whether a driver is loaded; asking torch would take seconds."""
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()


def _disk(config: Config, work: Work, folder: Path) -> str | None:
    parts = disk_bytes(config, folder, work.archives, work.runs)
    needed, free = sum(parts.values()), shutil.disk_usage(folder).free
    if free >= needed:
        return None
    return f"{folder}: {_gigabytes(free)} free, but {_parts(parts)} need about {_gigabytes(needed)}"


def _network(config: Config, work: Work) -> list[str]:
    lines = unreachable([config.archives[archive] for archive in work.archives], config.mirrors)
    return [f"{line}; look at the network, or name a mirror that has it (`mirrors`)" for line in lines]


def _partitions(work: Work) -> list[str]:
    if work.cluster is None:
        return []
    known = _known_partitions()
    wanted = work.cluster.partitions | work.cluster.gpu_partitions
    names = {name for text in wanted for name in text.split(",") if name}
    problems = [_unknown(name, sorted(known)) for name in sorted(names) if known and name not in known]
    gpu_names = {name for text in work.cluster.gpu_partitions for name in text.split(",")} & known.keys()
    if gpu_names and not any("gpu" in known[name] for name in gpu_names):
        problems.append(
            f"slurm_partition: {', '.join(sorted(gpu_names))}: none of its nodes has a GPU, as sinfo tells; those of"
            f" {', '.join(name for name in known if 'gpu' in known[name]) or 'no partition'} have"
        )
    return problems


def _unknown(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    return f"slurm_partition: found {name!r}, which this cluster lacks{guess}; known: {', '.join(known)}"


def _known_partitions() -> dict[str, str]:
    """This cluster's partitions and the generic resources of their nodes; none where Slurm does not say."""
    if not shutil.which("sinfo"):
        return {}
    try:
        answer = subprocess.run(
            ["sinfo", "--noheader", "--format=%R %G"],
            capture_output=True,
            text=True,
            check=False,
            timeout=SLURM_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {}
    known: dict[str, str] = {}
    for line in answer.stdout.splitlines():
        name, _, resources = line.strip().partition(" ")
        known[name] = f"{known.get(name, '')} {resources}"
    return known


# --- what it will take ------------------------------------------------------------------------------------------------


def forecast(config: Config, work: Work, folder: Path) -> list[str]:
    """Hours and disk that the work will take, a line each."""
    lines = []
    if work.runs:
        number = f"{len(work.runs)} {'runs' if len(work.runs) > 1 else 'run'}"
        left = training_left(config, folder, work.runs)
        lines.append(f"training: {number}, {in_words(left, len(work.runs))}")
    parts = disk_bytes(config, folder, work.archives, work.runs)
    if any(parts.values()):
        free = _gigabytes(shutil.disk_usage(folder).free)
        lines.append(f"disk: about {_gigabytes(sum(parts.values()))} for {_parts(parts)}; {free} free")
    unknown = [archive for archive in work.archives if config.archives[archive].bytes is None]
    if unknown:
        lines.append(f"disk: the sizes of {', '.join(unknown)} are not known and not counted")
    return lines


def _parts(parts: dict[str, int]) -> str:
    return ", ".join(f"{name} {_gigabytes(size)}" for name, size in parts.items() if size)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{max(1, round(size / 1e6))} MB"
