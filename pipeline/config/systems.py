"""A system translates the test text: a run of a model, or an entry of the catalogue `systems`, which trains nothing."""

from __future__ import annotations

from dataclasses import dataclass

from nmt.settings.decoding import Average, Decoding
from pipeline.config.runs import runs_of
from pipeline.config.schema import Config


@dataclass(frozen=True)
class System:
    """What translates.

    name: in paths; model: id of the model or of the system; seed: of a run, None for an entry of `systems`; members:
    names of the runs that translate together, and what they take the mean of.
    """

    name: str
    model: str
    seed: int | None
    members: tuple[str, ...]
    average: Average
    decoding: Decoding


def systems_of(config: Config) -> dict[str, System]:
    """By name: every run of the models in the catalogue, which decodes as all do, and every system in use."""
    runs = runs_of(config, list(config.models)).values()
    found = [
        System(run.name, run.model, run.seed, (run.name,), "probability", config.decoding) for run in runs
    ]
    for name in config.use.systems:
        entry = config.systems[name]
        found.append(System(name, name, None, tuple(entry.members), entry.average, entry.decoding))
    return {system.name: system for system in found}


def systems_in_use(config: Config) -> dict[str, System]:
    """The runs of the models in use, then the systems in use: what the results compare."""
    names = [*runs_of(config, config.use.models), *config.use.systems]
    every = systems_of(config)
    return {name: every[name] for name in names}


def labels_of(config: Config) -> dict[str, str]:
    """The names that tables and figures show, by the ids of models and systems in use."""
    models = {model: config.models[model].label for model in config.use.models}
    return models | {name: config.systems[name].label for name in config.use.systems}
