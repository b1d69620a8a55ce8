"""Runs and systems. A run is a model with a seed; it is trained, translated and scored under its own name.

A system translates the test text: it is a run, or an entry of the catalogue `systems`, which trains nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nmt.settings.decoding import Average, Decoding
from nmt.settings.training import ModelRun
from pipeline.config.schema import Config

SEED_SUFFIX = re.compile(r"\.seed-(\d+)$")
"""The end of a run's name if its seed is not the first of its model."""

MOSES, MOSES_WITH_RNNENC = "moses", "moses-rnnenc"
"""Names of the phrase-based system, and of the same system with a model's scores in its phrase table."""


@dataclass(frozen=True)
class Run:
    """One training run."""

    name: str
    """Name in paths, such as rnnsearch-50.seed-2."""
    model: str
    """Name of its entry in `models`."""
    seed: int
    """Seed of the initial weights."""
    base: str | None
    """Name of the run that it continues."""


@dataclass(frozen=True)
class System:
    """A run that translates, or several runs that translate together."""

    name: str
    """Name in paths."""
    model: str
    """Name of its entry in `models` or `systems`."""
    seed: int | None
    """Seed of a run; None for an entry of `systems`."""
    members: tuple[str, ...]
    """Names of the runs that translate together."""
    average: Average
    """The mean of the members' predictions: of probabilities or of log-probabilities."""
    decoding: Decoding


# --- runs -------------------------------------------------------------------------------------------------------------


def get_seeds(config: Config, model: str) -> Sequence[int]:
    """Return the seeds that a model is trained with."""
    return config.models[model].seeds or config.seeds or [config.seed]


def name_run(config: Config, model: str, seed: int) -> str:
    """Return the name of a run, such as rnnsearch-50.seed-2; for the first seed it is the name of the model.

    So the first run keeps its name if seeds are added later.
    """
    first_seed = get_seeds(config, model)[0]
    return model if seed == first_seed else f"{model}.seed-{seed}"


def collect_runs(config: Config, models: Iterable[str] | None = None) -> dict[str, Run]:
    """Return the runs of these models (all by default) by name, each model's runs in the order of its seeds.

    If a model continues another one, each of its runs continues the run of the same seed.
    """
    if models is None:
        models = config.models
    runs = {}
    for model in models:
        base_model = config.models[model].continue_from
        for seed in get_seeds(config, model):
            name = name_run(config, model, seed)
            base = name_run(config, base_model, seed) if base_model else None
            runs[name] = Run(name=name, model=model, seed=seed, base=base)
    return runs


def list_trained_runs(config: Config) -> list[str]:
    """Return the names of the runs that an experiment trains: none if it uses pretrained models."""
    if config.pretrained.models:
        return []
    names = list(collect_runs(config, config.use.models))
    if config.measures_moses and config.moses.phrase_model:
        names.append(config.moses.phrase_model)
    return names


def get_run_settings(config: Config, run: Run) -> ModelRun:
    """Return all settings that a run's weights depend on; the other seeds of its model are left out."""
    entry = dict(config.models[run.model])
    del entry["seeds"]
    return ModelRun(model=run.model, seed=run.seed, sample_seed=config.seed, **entry)


# --- systems ----------------------------------------------------------------------------------------------------------


def collect_systems(config: Config) -> dict[str, System]:
    """Return the systems by name: the runs of all models, with the common decoding, then the selected systems."""
    systems = {}
    # runs
    for run in collect_runs(config).values():
        systems[run.name] = System(
            name=run.name,
            model=run.model,
            seed=run.seed,
            members=(run.name,),
            average="probability",
            decoding=config.decoding,
        )
    # entries of `systems`
    for name in config.use.systems:
        entry = config.systems[name]
        systems[name] = System(
            name=name,
            model=name,
            seed=None,
            members=tuple(entry.members),
            average=entry.average,
            decoding=entry.decoding,
        )
    return systems


def select_systems(config: Config) -> dict[str, System]:
    """Return the systems that the results compare: the runs of the selected models, then the selected systems."""
    all_systems = collect_systems(config)
    names = list(collect_runs(config, config.use.models)) + config.use.systems
    return {name: all_systems[name] for name in names}


def select_text_only_systems(config: Config, set_name: str) -> list[str]:
    """Return the systems of which only the translations of a set are known, as text, but no model.

    They are Moses and, for the test set, the systems whose n-best lists are rescored. Moses' translations are made by
    this run, or the user gives a file of them for the test set (`artifacts.moses_translations`).
    """
    names = []
    if config.measures_moses or (set_name == "test" and config.artifacts.moses_translations):
        names.append(MOSES)
    if config.measures_moses and config.moses.phrase_model:
        names.append(MOSES_WITH_RNNENC)
    if set_name == "test":
        names += config.use.rescored
    return names


def select_distinct_systems(systems: Iterable[System]) -> list[str]:
    """Return the names of the systems whose models or average differ from those of all earlier systems.

    Systems that only differ in their decoding have the same perplexity.
    """
    names: dict[tuple[object, ...], str] = {}  # (members, average) -> the first system with them
    for system in systems:
        names.setdefault((system.members, system.average), system.name)
    return list(names.values())


def format_run_label(run: str, labels: Mapping[str, str]) -> str:
    """Return the name of a run for readers: the label of its model, and the seed unless it is the first one.

    Example: rnnsearch-50.seed-2 -> "RNNsearch-50, seed 2". A model without a label has its id.
    """
    model = SEED_SUFFIX.sub("", run)
    seed = run.removeprefix(model).replace(".seed-", ", seed ")
    return f"{labels.get(model, model)}{seed}"


def get_labels(config: Config) -> dict[str, str]:
    """Return the names that tables and figures show, by the names of the selected models and systems."""
    labels = {model: config.models[model].label for model in config.use.models}
    for name in config.use.systems:
        labels[name] = config.systems[name].label
    return labels
