"""Runs and systems. A run is a model with a seed; it is trained, translated and scored under its own name.

A system translates the test text: it is a run, or an entry of the catalogue `systems`, which trains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nmt.settings.decoding import Average, Decoding
from nmt.settings.training import ModelRun
from pipeline.config.schema import Config

SEED_SUFFIX = re.compile(r"\.seed-(\d+)$")
"""The end of a run's name if its seed is not the first of its model."""


PHRASE_BASED, WITH_PHRASE_MODEL = "moses", "moses-rnnenc"
"""Names of the phrase-based system in every table, and of the one whose phrase table a model has scored."""


@dataclass(frozen=True)
class Run:
    """One training run.

    name: in paths; model: id in the catalogue; seed: of the start values; base: name of the run that it continues.
    """

    name: str
    model: str
    seed: int
    base: str | None


def collect_runs(config: Config, models: Sequence[str]) -> dict[str, Run]:
    """Return the runs of these models by name, in their order, each model's in the order of its seeds.

    A model that continues another continues the run of the same seed.
    """
    runs = [_run(config, model, seed) for model in models for seed in get_seeds(config, model)]
    return {run.name: run for run in runs}


def get_seeds(config: Config, model: str) -> Sequence[int]:
    """Return the seeds that a model is trained with."""
    return config.models[model].seeds or config.seeds or [config.seed]


def run_name(model: str, seed: int, seeds: Sequence[int]) -> str:
    """Return the model's name for its first seed, so that seeds can be added, and a name with the seed for others."""
    return model if seed == seeds[0] else f"{model}.seed-{seed}"


def _run(config: Config, model: str, seed: int) -> Run:
    base = config.models[model].continue_from
    return Run(
        run_name(model, seed, get_seeds(config, model)),
        model,
        seed,
        run_name(base, seed, get_seeds(config, base)) if base else None,
    )


def run_settings(config: Config, run: Run) -> ModelRun:
    """Return all that decides a run's weights, besides the data; the other seeds of its model are no part of it."""
    entry = config.models[run.model].model_dump(exclude={"seeds"})
    return ModelRun(model=run.model, seed=run.seed, sample_seed=config.seed, **entry)


@dataclass(frozen=True)
class System:
    """A system.

    name: in paths. model: id of the model or of the system. seed: of a run, None for an entry of `systems`. members:
    names of the runs that translate together. average: what they take the mean of.
    """

    name: str
    model: str
    seed: int | None
    members: tuple[str, ...]
    average: Average
    decoding: Decoding


def collect_systems(config: Config) -> dict[str, System]:
    """Return the runs of all models in the catalogue, with the common decoding, and the systems in use, by name."""
    runs = collect_runs(config, list(config.models)).values()
    found = [
        System(run.name, run.model, run.seed, (run.name,), "probability", config.decoding) for run in runs
    ]
    for name in config.use.systems:
        entry = config.systems[name]
        found.append(System(name, name, None, tuple(entry.members), entry.average, entry.decoding))
    return {system.name: system for system in found}


def select_systems(config: Config) -> dict[str, System]:
    """Return the runs of the models in use, then the systems in use: what the results compare."""
    names = [*collect_runs(config, config.use.models), *config.use.systems]
    every = collect_systems(config)
    return {name: every[name] for name in names}


def select_other_systems(config: Config, set_name: str) -> list[str]:
    """Return the systems without models here that translate a set: Moses, measured or given, and rescored lists."""
    artifacts, moses = config.artifacts, config.moses
    given = artifacts.moses_translations if set_name == "test" else artifacts.moses_dev_translations
    names = []
    if given or (moses and moses.enabled):
        names.append(PHRASE_BASED)
    if moses and moses.enabled and moses.phrase_model:
        names.append(WITH_PHRASE_MODEL)
    return [*names, *config.use.rescored] if set_name == "test" else names


def select_distinct_systems(systems: Iterable[System]) -> list[str]:
    """Return the systems without those that differ from one before by their decoding alone, and so in no perplexity."""
    first: dict[tuple[object, ...], str] = {}
    for system in systems:
        first.setdefault((system.members, system.average), system.name)
    return [*first.values()]


def get_labels(config: Config) -> dict[str, str]:
    """Return the names that tables and figures show, by the ids of models and systems in use."""
    models = {model: config.models[model].label for model in config.use.models}
    return models | {name: config.systems[name].label for name in config.use.systems}
