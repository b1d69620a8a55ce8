"""What long work needs of the machine, looked at before it starts instead of missed hours later."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from nmt.settings import Config

SPACE_PER_ARCHIVE_BYTE = 6
"""Archive, raw, clean, tokenized and selected text (each about as large as the archive), and binary text."""


def missing(config: Config, stages: Collection[str], folder: Path) -> list[str]:
    """What this machine lacks for the stages that are about to run, one line each.

    Args:
        config: the run's settings.
        stages: names of the waiting stages, as the workflow's rules are called.
        folder: where the run writes.
    """
    found = [_language_models(stages), _gpu(config, stages), _disk(config, stages, folder)]
    return [problem for problem in found if problem]


def _language_models(stages: Collection[str]) -> str | None:
    if "language_model" not in stages or (shutil.which("lmplz") and shutil.which("build_binary")):
        return None
    return (
        "selection needs KenLM's programs lmplz and build_binary, which are not on the path: build them from"
        " https://github.com/kpu/kenlm (cmake, Boost, Eigen), or say `selection: {enabled: false}`"
    )


def _gpu(config: Config, stages: Collection[str]) -> str | None:
    wanted = (
        {config.models[model].training.device for model in config.use.models} if "train" in stages else set()
    )
    wanted |= {config.decoding.device} if {"translate", "align"} & set(stages) else set()
    if "cuda" not in wanted or _has_gpu():
        return None
    return (
        "training.device or decoding.device is `cuda`, but this machine shows no NVIDIA GPU: run on a cluster"
        " (--profile slurm), choose a smaller experiment, or say `device: auto`"
    )


def _has_gpu() -> bool:
    """Whether a driver is loaded; asking torch would take seconds."""
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()


def _disk(config: Config, stages: Collection[str], folder: Path) -> str | None:
    if "download" not in stages:
        return None
    used = {*config.use.train, *config.use.dev, *config.use.test}
    sides = [
        side for corpus in used for side in (config.corpora[corpus].source, config.corpora[corpus].target)
    ]
    archives = {side.archive for side in sides if side}
    needed = SPACE_PER_ARCHIVE_BYTE * sum(config.archives[archive].bytes or 0 for archive in archives)
    free = shutil.disk_usage(folder).free
    if free >= needed:
        return None
    return f"{folder}: {free / 1e9:.1f} GB free, archives and prepared text need about {needed / 1e9:.1f} GB"
