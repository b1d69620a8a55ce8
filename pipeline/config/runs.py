"""Runs. A run is a model with a seed. It is trained, translated and scored under its own name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.settings.training import ModelRun
from pipeline.config.schema import Config

LATER = re.compile(r"\.seed-(\d+)$")
"""The end of a run's name if its seed is not the first of its model."""


@dataclass(frozen=True)
class Run:
    """One training run.

    name: in paths; model: id in the catalogue; seed: of the start values; base: name of the run that it continues.
    """

    name: str
    model: str
    seed: int
    base: str | None


def runs_of(config: Config, models: Sequence[str]) -> dict[str, Run]:
    """Return the runs of these models by name, in their order, each model's in the order of its seeds.

    A model that continues another continues the run of the same seed.
    """
    runs = [_run(config, model, seed) for model in models for seed in seeds_of(config, model)]
    return {run.name: run for run in runs}


def seeds_of(config: Config, model: str) -> Sequence[int]:
    """Return the seeds that a model is trained with."""
    return config.models[model].seeds or config.seeds or [config.seed]


def run_name(model: str, seed: int, seeds: Sequence[int]) -> str:
    """Return the model's name for its first seed, so that seeds can be added, and a name with the seed for others."""
    return model if seed == seeds[0] else f"{model}.seed-{seed}"


def _run(config: Config, model: str, seed: int) -> Run:
    base = config.models[model].continue_from
    return Run(
        run_name(model, seed, seeds_of(config, model)),
        model,
        seed,
        run_name(base, seed, seeds_of(config, base)) if base else None,
    )


def run_settings(config: Config, run: Run) -> ModelRun:
    """Return all that decides a run's weights, besides the data; the other seeds of its model are no part of it."""
    entry = config.models[run.model].model_dump(exclude={"seeds"})
    return ModelRun(model=run.model, seed=run.seed, sample_seed=config.seed, **entry)
