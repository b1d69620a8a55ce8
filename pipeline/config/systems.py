"""Systems. A system translates the test text: it is a run, or an entry of the catalogue `systems` without training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nmt.settings.decoding import Average, Decoding
from pipeline.config.runs import runs_of
from pipeline.config.schema import Config


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


def systems_of(config: Config) -> dict[str, System]:
    """Return the runs of all models in the catalogue, with the common decoding, and the systems in use, by name."""
    runs = runs_of(config, list(config.models)).values()
    found = [
        System(run.name, run.model, run.seed, (run.name,), "probability", config.decoding) for run in runs
    ]
    for name in config.use.systems:
        entry = config.systems[name]
        found.append(System(name, name, None, tuple(entry.members), entry.average, entry.decoding))
    return {system.name: system for system in found}


def systems_in_use(config: Config) -> dict[str, System]:
    """Return the runs of the models in use, then the systems in use: what the results compare."""
    names = [*runs_of(config, config.use.models), *config.use.systems]
    every = systems_of(config)
    return {name: every[name] for name in names}


def differing_in_models(systems: Iterable[System]) -> list[str]:
    """Return the systems without those that differ from one before by their decoding alone, and so in no perplexity."""
    first: dict[tuple[object, ...], str] = {}
    for system in systems:
        first.setdefault((system.members, system.average), system.name)
    return [*first.values()]


def labels_of(config: Config) -> dict[str, str]:
    """Return the names that tables and figures show, by the ids of models and systems in use."""
    models = {model: config.models[model].label for model in config.use.models}
    return models | {name: config.systems[name].label for name in config.use.systems}
