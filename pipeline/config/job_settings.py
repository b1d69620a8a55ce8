"""Settings of single jobs: only those that decide them, so that a change of others runs nothing again."""

from __future__ import annotations

from typing import Any

from nmt.settings.decoding import TextSettings
from pipeline.config.display import ReportSettings
from pipeline.config.experiment import get_role
from pipeline.config.runs import PHRASE_BASED, WITH_PHRASE_MODEL, get_labels
from pipeline.config.schema import Config


def get_text_facts(config: Config, part: str) -> dict[str, Any]:
    """Return what decides the binarized training or development text; `seed` is that of the order, or None.

    Checksums and addresses of archives are left out: they say how to get a file, not which.
    """
    corpora = config.use.train if part == "train" else config.use.dev
    values = config.model_dump(
        mode="json", include={"languages", "cleaning", "tokenization", "selection", "vocabulary"}
    )
    if not config.selection.enabled:  # then its other keys decide nothing
        values["selection"] = None
    values["corpora"] = {corpus: _corpus_facts(config, corpus) for corpus in corpora}
    return {"seed": config.seed if part == "train" else None, **values}


def _corpus_facts(config: Config, corpus: str) -> dict[str, Any]:
    """Return what decides the text of a corpus, besides the files that it comes from."""
    entry = config.corpora[corpus]
    grammar = {**config.grammar.model_dump(), **entry.grammar.model_dump()} if entry.grammar else None
    return {"tokenized": entry.tokenized, "grammar": grammar}


def preparation_settings(config: Config, corpus: str) -> dict[str, Any]:
    """Return how the tokens of a corpus are made. Development and test text stays whole, without limits."""
    whole = get_role(config, corpus) in ("dev", "test")
    tokenization = None if config.corpora[corpus].tokenized else config.tokenization.model_dump()
    return {
        "languages": config.languages.model_dump(),
        "cleaning": {} if whole else config.cleaning.model_dump(),
        "tokenization": tokenization,
    }


def text_settings(config: Config) -> TextSettings:
    """Return what a model's folder says of raw text. No training depends on it: a change trains nothing again."""
    return TextSettings(
        languages=config.languages,
        tokenization=config.tokenization,
        decoding=config.decoding,
        tokenized=all(config.corpora[corpus].tokenized for corpus in config.use.train),
    )


def report_settings(config: Config) -> ReportSettings:
    """Return what the tables and figures show, the models' names, how UNK was decoded, and how text was tokenized."""
    rescored = {name: config.rescored[name].label for name in config.use.rescored}
    labels = get_labels(config) | rescored | {PHRASE_BASED: "Moses", WITH_PHRASE_MODEL: "Moses + RNNenc"}
    return ReportSettings(
        **config.artifacts.model_dump(),
        labels=labels,
        unknown=config.decoding.unknown,
        if_no_eos=config.decoding.if_no_eos,
        languages=config.languages,
        tokenization=config.tokenization,
        subwords=config.vocabulary.subwords,
    )
