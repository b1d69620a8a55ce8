"""The settings that decide a job. They are among its parameters, so that a change of them runs the job again.

Settings that decide nothing are left out, so that a change of them runs nothing again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from nmt.settings.decoding import TextSettings
from pipeline.config.artifacts import ReportSettings
from pipeline.config.consistency import PHRASE_BASED, WITH_PHRASE_MODEL
from pipeline.config.experiment import part_of
from pipeline.config.runs import Run, labels_of, run_settings, systems_in_use
from pipeline.config.schema import Config


def as_json(settings: BaseModel | Mapping[str, Any]) -> str:
    """Return settings as one line of JSON with a fixed order of keys, so that equal settings are equal text."""
    values = settings.model_dump() if isinstance(settings, BaseModel) else settings
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def training_settings(config: Config, run: Run) -> str:
    """Return all that decides a run's weights, besides the data."""
    return as_json(run_settings(config, run))


def data_settings(config: Config) -> str:
    """Return what decides the text that every model is trained on; a change of it makes the models outdated.

    Checksums and mirrors are left out: they say how to get a file, not which.
    """
    if config.data_from:
        return as_json({"data_from": config.data_from})
    deciding = ("seed", "languages", "cleaning", "tokenization", "selection", "vocabulary")
    values = config.model_dump(include=set(deciding))
    if config.selection.lm_vocabulary == "all":  # these then decide nothing
        values["selection"] = config.selection.model_dump(exclude={"lm_vocabulary", "lm_vocabulary_least"})
    values["train"], values["dev"] = list(config.use.train), list(config.use.dev)
    text = (*config.use.train, *config.use.dev)
    values["generated"] = [_generated(config, corpus) for corpus in text if config.corpora[corpus].grammar]
    values["tokenized"] = [corpus for corpus in text if config.corpora[corpus].tokenized]
    return as_json(values)


def preparation_settings(config: Config, corpus: str) -> dict[str, Any]:
    """Return how the tokens of a corpus are made. Development and test text stays whole, without limits."""
    whole = part_of(config, corpus) in ("dev", "test")
    tokenization = None if config.corpora[corpus].tokenized else config.tokenization.model_dump()
    return {
        "languages": config.languages.model_dump(),
        "cleaning": {} if whole else config.cleaning.model_dump(),
        "tokenization": tokenization,
    }


def _generated(config: Config, corpus: str) -> dict[str, Any]:
    """Return what decides a generated corpus."""
    own = config.corpora[corpus].grammar
    return {**config.grammar.model_dump(), **(own.model_dump() if own else {})}


def text_settings(config: Config) -> str:
    """Return what a model's folder says of raw text. No training depends on it: a change trains nothing again."""
    return as_json(
        TextSettings(
            languages=config.languages,
            tokenization=config.tokenization,
            decoding=config.decoding,
            tokenized=all(config.corpora[corpus].tokenized for corpus in config.use.train),
        )
    )


def report_settings(config: Config) -> ReportSettings:
    """Return what the tables and figures show, the models' names, how UNK was decoded, and how text was tokenized."""
    rescored = {name: config.rescored[name].label for name in config.use.rescored}
    labels = labels_of(config) | rescored | {PHRASE_BASED: "Moses", WITH_PHRASE_MODEL: "Moses + RNNenc"}
    return ReportSettings(
        **config.artifacts.model_dump(),
        labels=labels,
        unknown=config.decoding.unknown,
        unfinished=config.decoding.unfinished,
        languages=config.languages,
        tokenization=config.tokenization,
        subwords=config.vocabulary.subwords,
    )


def comparison_settings(config: Config) -> str:
    """Return what decides the comparison of translations, besides these.

    Of each pair of systems it has the score of the later one less that of the earlier one, so their order counts.
    """
    values: dict[str, Any] = config.artifacts.model_dump(include={"bootstrap_samples", "bootstrap_seed"})
    values["systems"] = list(systems_in_use(config))
    return as_json(values | {"languages": config.languages.model_dump(), **config.tokenization.model_dump()})
