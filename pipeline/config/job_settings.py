"""Settings of single jobs. They have only keys that the job's output depends on, so other changes run nothing again."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nmt.io.files import read_json
from nmt.settings.base import describe_differences, flatten
from nmt.settings.decoding import TextSettings
from pipeline.config.catalogue import Corpus
from pipeline.config.display import ReportSettings
from pipeline.config.experiment import get_role
from pipeline.config.runs import PHRASE_BASED, PHRASE_BASED_WITH_RNNENC, get_labels
from pipeline.config.schema import Config


def get_extraction_settings(corpus: Corpus) -> dict[str, Any]:
    """Return the settings that the raw text of a corpus depends on (rule `extract_CORPUS`), without its archives."""
    files = [side.file for side in corpus.sides.values() if side.file]
    values = corpus.model_dump(mode="json", exclude={"tokenized"})
    return {"corpus": values, "files": get_file_stamps(files)}


def get_file_stamps(files: Iterable[str]) -> list[list[Any]]:
    """Return path, size and date of files that no rule makes: Snakemake overlooks an older file in their place."""
    stamps = []
    for file in map(Path, files):
        if file.is_file():
            stat = file.stat()
            stamps.append([str(file), stat.st_size, stat.st_mtime_ns])
    return stamps


def get_preparation_settings(config: Config, corpus: str) -> dict[str, Any]:
    """Return the settings that the tokens of a corpus depend on (rule `prepare`), in addition to its raw text."""
    # Development and test text stays whole, so no limit applies to it.
    is_whole = get_role(config, corpus) in ("dev", "test")
    is_tokenized = config.corpora[corpus].tokenized
    return {
        "languages": config.languages.model_dump(),
        "cleaning": {} if is_whole else config.cleaning.model_dump(),
        "tokenization": None if is_tokenized else config.tokenization.model_dump(),
    }


def get_bitext_settings(config: Config, split: str) -> dict[str, Any]:
    """Return the settings that the ids of training or development text, or the tokens of test text, depend on.

    Checksums and addresses of archives are left out: they say where a file is found, and do not change its text.

    split: `train`, `dev` or `test`.
    """
    settings = config.model_dump(
        mode="json", include={"languages", "cleaning", "tokenization", "selection", "vocabulary"}
    )
    if not config.selection.enabled:  # nothing depends on its other keys
        settings["selection"] = None

    # the settings of each corpus
    settings["corpora"] = {}
    for corpus in getattr(config.use, split):
        entry = config.corpora[corpus]
        grammar = None
        if entry.grammar:
            grammar = config.grammar.model_dump() | entry.grammar.model_dump()
        settings["corpora"][corpus] = {"tokenized": entry.tokenized, "grammar": grammar}

    # only training text is shuffled
    settings["seed"] = config.seed if split == "train" else None
    return settings


def get_test_settings(config: Config) -> dict[str, Any]:
    """Return the settings that the test text depends on; an experiment with `data_from` must have the same."""
    settings = get_bitext_settings(config, "test")
    return {key: settings[key] for key in ("languages", "tokenization", "corpora")}


def get_input_choice(config: Config) -> dict[str, Any]:
    """Return the settings that decide which text and which models the jobs read."""
    return {
        "corpora": config.use.model_dump(include={"train", "dev", "test"}),
        "data_from": config.data_from,
        "selection": config.selection.enabled,
        "members": {name: config.systems[name].members for name in config.use.systems},
    }


def describe_other_test_text(config: Config) -> str:
    """Return which settings of the test text differ from those of the experiment `data_from`, or "" if none does."""
    if config.data_from is None:
        return ""
    file = Path(config.data_from, "settings/test.json")
    if not file.exists():
        return ""
    return describe_differences(flatten(read_json(file)), flatten(get_test_settings(config)))


def get_text_settings(config: Config) -> TextSettings:
    """Return the settings with which a model translates raw text, which rule `text_settings` writes to its folder."""
    return TextSettings(
        languages=config.languages,
        tokenization=config.tokenization,
        decoding=config.decoding,
        tokenized=all(config.corpora[corpus].tokenized for corpus in config.use.train),
    )


def get_report_settings(config: Config) -> ReportSettings:
    """Return the settings of tables and figures: `artifacts`, labels, the treatment of [UNK], the tokenization."""
    labels = get_labels(config)
    for name in config.use.rescored:
        labels[name] = config.rescored[name].label
    labels |= {PHRASE_BASED: "Moses", PHRASE_BASED_WITH_RNNENC: "Moses + RNNenc"}
    return ReportSettings(
        **config.artifacts.model_dump(),
        labels=labels,
        unknown=config.decoding.unknown,
        if_no_eos=config.decoding.if_no_eos,
        languages=config.languages,
        tokenization=config.tokenization,
        subwords=config.vocabulary.subwords,
    )
