"""Settings of single jobs, with only the keys that the job's output depends on: other changes repeat no job."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nmt.io.files import read_json, sha256
from nmt.settings.base import describe_differences, flatten
from nmt.settings.decoding import TextSettings
from nmt.settings.training import COMPUTING_KEYS, RECORDING_KEYS
from nmt.store.model_folder import NEEDED_FILES, SUMMARY, TEXT_SETTINGS, read_text_settings
from pipeline.config.artifacts import ReportSettings
from pipeline.config.catalogue import Corpus
from pipeline.config.experiment import collect_budgets, get_role
from pipeline.config.runs import (
    MOSES,
    MOSES_WITH_RNNENC,
    Run,
    collect_runs,
    get_labels,
    get_run_settings,
)
from pipeline.config.schema import Config

JobSettings = dict[str, Any]


def get_extraction_settings(corpus: Corpus) -> JobSettings:
    """Return the settings that the raw text of a corpus depends on (rule `extract_CORPUS`), without its archives."""
    files = [side.file for side in corpus.sides.values() if side.file]
    corpus_settings = corpus.model_dump(mode="json", exclude={"tokenized"})
    return {"corpus": corpus_settings, "files": get_file_stamps(files)}


MAX_HASHED_BYTES = 1_000_000
"""Size of the largest file whose stamp is its checksum."""


def get_file_stamps(files: Iterable[str]) -> list[list[Any]]:
    """Return a stamp of each existing file: its path, with its checksum or, of a large file, with its size and date.

    Stamps are for files that no rule makes: Snakemake itself does not notice if an older file takes the place of one.
    """
    stamps: list[list[Any]] = []
    for file in map(Path, files):
        if file.is_file():
            stat = file.stat()
            if stat.st_size <= MAX_HASHED_BYTES:
                stamps.append([str(file), sha256(file)])
            else:
                stamps.append([str(file), stat.st_size, stat.st_mtime_ns])
    return stamps


def get_preparation_settings(config: Config, corpus: str) -> JobSettings:
    """Return the settings that the tokens of a corpus depend on (rule `prepare`), in addition to its archives."""
    # Development and test text stays whole, so no limit applies to it.
    is_whole = get_role(config, corpus) in ("dev", "test")
    is_tokenized = config.corpora[corpus].tokenized
    return {
        "languages": config.languages.model_dump(),
        "cleaning": {} if is_whole else config.cleaning.model_dump(),
        "tokenization": None if is_tokenized else config.tokenization.model_dump(),
        "grammar": get_grammar_settings(config, corpus),
    }


def get_grammar_settings(config: Config, corpus: str) -> JobSettings | None:
    """Return the settings of generated text, or None for text from archives or files."""
    entry = config.corpora[corpus].grammar
    if entry is None:
        return None
    return config.grammar.model_dump(mode="json") | entry.model_dump(mode="json")


def get_bitext_settings(config: Config, split: str) -> JobSettings:
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
        settings["corpora"][corpus] = {
            "tokenized": config.corpora[corpus].tokenized,
            "grammar": get_grammar_settings(config, corpus),
        }

    # only training text is shuffled
    settings["seed"] = config.seed if split == "train" else None
    return settings


def find_text_differences(config: Config) -> Iterator[str]:
    """Yield a line for each text or model from elsewhere whose text was prepared with settings other than these."""
    if config.data_from:
        yield from _compare_prepared_text(config, config.data_from)

    # models; `tokenized` is a setting of the training text, which pretrained models do not need
    keys = {"languages", "tokenization"}
    folders = []
    if config.pretrained.models:
        runs = collect_runs(config, config.use.models)
        folders = [Path(config.pretrained.models, run) for run in runs]
        folders = [folder for folder in folders if (folder / TEXT_SETTINGS).exists()]
    elif config.init_from:
        keys.add("tokenized")
        folders = [Path(config.init_from)]
    settings = flatten(get_text_settings(config).model_dump(include=keys))
    for folder in folders:
        settings_of_model = flatten(read_text_settings(folder).model_dump(include=keys))
        changes = describe_differences(settings_of_model, settings)
        if changes:
            yield f"{folder}: the model was trained on text of different settings: {changes}"


def _compare_prepared_text(config: Config, other_experiment: str) -> Iterator[str]:
    """Yield a line for each text of another experiment that was made with other settings."""
    # 1. the files that record settings, and the settings here
    data = Path(other_experiment, "data")
    test_corpus = config.use.test[0]
    settings_by_file = {
        data / "tokens" / test_corpus / "0.counts.json": get_preparation_settings(config, test_corpus)
    }
    if not config.pretrained.models:
        for split in ("train", "dev"):
            settings_by_file[data / "binary" / split / "meta.json"] = get_bitext_settings(config, split)

    # 2. the differences, as far as the text is prepared
    for file, settings in settings_by_file.items():
        if not file.exists():
            continue
        changes = describe_differences(flatten(read_json(file)["settings"]), flatten(settings))
        if changes:
            remedy = f"set here what {other_experiment} has, or run that experiment again"
            yield f"data_from: {file.parent} was made with different settings: {changes}; {remedy}"


def get_vocabulary_settings(config: Config, language: str) -> JobSettings:
    """Return the settings of the vocabulary of a language (rule `vocabulary`)."""
    source_size, target_size = config.vocabulary.sizes
    return {
        "words": source_size if language == config.languages.source else target_size,
        "specials_included": config.vocabulary.specials_included,
        "subwords": config.vocabulary.subwords,
    } | _stamp_initial_model(config)


def get_budget_settings(config: Config, budget: str) -> JobSettings:
    """Return the words of a budget of the selection, and the corpora that share it (rule `threshold`)."""
    return {
        "words": config.selection.corpus_words.get(budget, config.selection.target_words),
        "corpora": collect_budgets(config)[budget],
    }


def get_training_settings(config: Config, run: Run) -> JobSettings:
    """Return the settings of a run without those that change at most the last digits of its weights (rule `train`)."""
    excluded_keys = RECORDING_KEYS | COMPUTING_KEYS
    settings = get_run_settings(config, run).model_dump(mode="json", exclude={"training": excluded_keys})
    return settings | _stamp_initial_model(config)


def _stamp_initial_model(config: Config) -> JobSettings:
    """Return stamps of the files of the model `init_from`, for the jobs that read it; {} if there is none."""
    if config.init_from is None:
        return {}
    # weights of two models may have the same size and date, but the summary contains their checksum
    files = [f"{config.init_from}/{name}" for name in (*NEEDED_FILES, SUMMARY)]
    return {"initial_model": get_file_stamps(files)}


def get_text_settings(config: Config) -> TextSettings:
    """Return the settings with which a model translates raw text: text.json in the model's folder."""
    return TextSettings(
        languages=config.languages,
        tokenization=config.tokenization,
        decoding=config.decoding,
        tokenized=all(config.corpora[corpus].tokenized for corpus in config.use.train),
    )


def get_report_settings(config: Config) -> ReportSettings:
    """Return the settings of tables and figures: `artifacts`, labels, the treatment of [UNK], the tokenization."""
    # 1. labels
    labels = get_labels(config)
    for name in config.use.rescored:
        labels[name] = config.rescored[name].label
    labels |= {MOSES: "Moses", MOSES_WITH_RNNENC: "Moses + RNNenc"}

    # 2. model types; a system has the type of its first member
    runs = collect_runs(config)
    model_types = {name: model.model_type for name, model in config.models.items()}
    for name in config.use.systems:
        first_member = config.systems[name].members[0]
        model_types[name] = model_types[runs[first_member].model]

    return ReportSettings(
        **config.artifacts.model_dump(),
        labels=labels,
        model_types=model_types,
        unknown=config.decoding.unknown,
        if_no_eos=config.decoding.if_no_eos,
        languages=config.languages,
        tokenization=config.tokenization,
        subwords=config.vocabulary.subwords,
    )
