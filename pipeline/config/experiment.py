"""The corpora, shards, archives and runs that an experiment uses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nmt.settings.model_types import IN_BROWSER
from pipeline.config.catalogue import Corpus
from pipeline.config.schema import Config

COMMON_BUDGET = "common_budget"
"""A name that no corpus can have, for its underscore."""

# --- corpora ----------------------------------------------------------------------------------------------------------


def list_in_domain_corpora(config: Config) -> list[str]:
    """Return the corpora that the selection takes for in-domain text."""
    return list(config.selection.in_domain) if config.selection.enabled else []


def list_corpora(config: Config) -> list[str]:
    """Return the corpora in use, and those that the selection compares with, each once."""
    used = [*config.use.train, *config.use.dev, *config.use.test]
    return list(dict.fromkeys([*used, *list_in_domain_corpora(config)]))


def lm_corpora(config: Config) -> list[str]:
    """Return the corpora that nothing but the phrase-based system's language model learns from."""
    named = config.moses.lm_corpora if config.moses and config.moses.enabled else []
    return [corpus for corpus in named if corpus not in list_corpora(config)]


def list_prepared_corpora(config: Config) -> list[str]:
    """Return the corpora in use that this experiment prepares itself; none where it takes its data from another."""
    return [] if config.data_from else list_corpora(config)


def missing_data(config: Config, dev: bool = False) -> list[str]:
    """Return the files that this experiment reads of the one that `data_from` names, as far as they are not there.

    `dev`: whether the development text is translated, too.
    """
    if config.data_from is None:
        return []
    languages = (config.languages.source, config.languages.target)
    translated = [f"{config.use.test[0]}/0", *(list_shards(config, config.use.dev) if dev else [])]
    files = [f"data/tokens/{shard}.{language}.zst" for shard in translated for language in languages]
    if config.pretrained.models is None:
        files += ["data/binary/train/meta.json", "data/binary/dev/meta.json"]
        files += [f"data/vocabulary/{language}.tsv" for language in languages]
    return [file for file in files if not Path(config.data_from, file).exists()]


def missing_files(config: Config) -> list[str]:
    """Return a line for each file that the settings name and this run reads, and that is not there."""
    return [
        f"{key}: {file}: no such file; a relative path starts at the file that states it"
        for key, file in _named_files(config)
        if file and not Path(file).is_file() and Path(file).parts[0] not in ("data", "moses", "translations")
    ]


def _named_files(config: Config) -> Iterator[tuple[str, str | None]]:
    """Yield keys and files: one's own text that is prepared here, and what other systems and tools wrote."""
    prepared = config.use.test if config.pretrained.models else list_prepared_corpora(config)
    for corpus in (*prepared, *lm_corpora(config)):
        for name, side in config.corpora[corpus].sides.items():
            yield f"corpora.{corpus}.{name}.file", side.file
    artifacts, lists = config.artifacts, [config.rescored[name].n_best_list for name in config.use.rescored]
    yield "artifacts.gold_alignments", artifacts.gold_alignments
    yield from ((f"n_best_lists.{name}", file) for name, file in config.n_best_lists.items() if name in lists)
    if config.moses.enabled:
        yield from (("moses.lm_text", file) for file in config.moses.lm_text)
    else:
        yield "artifacts.moses_translations", artifacts.moses_translations
        yield "artifacts.moses_dev_translations", artifacts.moses_dev_translations


def folders_outside(config: Config, folder: Path) -> list[Path]:
    """Return the folders that an experiment uses beside its own: those that settings name or links in it lead to, and
    that of caches."""
    files = [Path(file).parent for _, file in _named_files(config) if file]
    named = [
        config.data_from,
        config.pretrained.models,
        *(mirror for mirror in config.mirrors if "://" not in mirror),
    ]
    links = [entry.resolve() for entry in folder.iterdir() if entry.is_symlink() and entry.is_dir()]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    found = [folder / path for path in (*files, *map(Path, filter(None, named)), *links, cache)]
    return [path for path in found if not path.resolve().is_relative_to(folder.resolve())]


def extraction_settings(corpus: Corpus) -> dict[str, Any]:
    """Return what decides the raw text of a corpus, besides its archives.

    Files of one's own count by size and time: somebody may replace one by a file with an older date.
    """
    files = [Path(side.file) for side in corpus.sides.values() if side.file]
    stamps = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files if file.is_file()]
    return {"corpus": corpus.model_dump(mode="json", exclude={"tokenized"}), "files": stamps}


def get_role(config: Config, corpus: str) -> str:
    """Return what a corpus is for: train, dev, test or, if only the selection compares with it, in-domain."""
    parts = {"train": config.use.train, "dev": config.use.dev, "test": config.use.test}
    return next((part for part, corpora in parts.items() if corpus in corpora), "in-domain")


def surplus_shards(config: Config) -> list[str]:
    """Return a line for each corpus with more shards on the disk than in the settings: those would be left out."""
    return [
        f"corpora.{corpus}.shards: {number}, but {found.parent} has more; set the number back, or remove"
        f" data/*/{corpus}, and the text is divided anew, to the same result"
        for corpus in (*list_prepared_corpora(config), *lm_corpora(config))
        for number in (config.corpora[corpus].shards,)
        if (found := next(Path("data").glob(f"*/{corpus}/{number}.*"), None))
    ]


# --- shards and stages of text ----------------------------------------------------------------------------------------


def list_shards(config: Config, corpora: Iterable[str]) -> list[str]:
    """Return every shard of some corpora as CORPUS/NUMBER, in order."""
    return [f"{corpus}/{shard}" for corpus in corpora for shard in range(config.corpora[corpus].shards)]


def get_final_stage(config: Config) -> str:
    """Return the stage of the training text that models are trained on."""
    return "selected" if config.selection.enabled else "tokens"


def list_stages(config: Config, corpus: str) -> list[str]:
    """Return the stages of a corpus' tokenized text, in order."""
    return ["tokens", "selected"] if corpus in config.use.train and config.selection.enabled else ["tokens"]


def budget_of(config: Config, corpus: str) -> str:
    """Return the name of a corpus' word budget: its own name, or that of the budget that the other corpora share."""
    return corpus if corpus in config.selection.corpus_words else COMMON_BUDGET


def words_of_budget(config: Config, budget: str) -> int:
    """Return the target words of a word budget, named as by `budget_of`."""
    return config.selection.corpus_words.get(budget, config.selection.target_words)


def corpora_of_budget(config: Config, budget: str) -> list[str]:
    """Return the training corpora that share a word budget, named as by `budget_of`."""
    return [corpus for corpus in config.use.train if budget_of(config, corpus) == budget]


# --- archives ---------------------------------------------------------------------------------------------------------


def list_archives(config: Config, corpora: Iterable[str]) -> list[str]:
    """Return catalogue names of the archives that hold some corpora, each once, in order."""
    entries = [config.corpora[corpus] for corpus in corpora]
    sides = [side for entry in entries for side in entry.sides.values()]
    return list(dict.fromkeys(side.archive for side in sides if side.archive))


def list_fetched_archives(config: Config) -> list[str]:
    """Return catalogue names of the archives that this experiment fetches, each once."""
    return list_archives(config, [*list_prepared_corpora(config), *lm_corpora(config)])


# --- runs -------------------------------------------------------------------------------------------------------------


def select_contrasted_models(config: Config) -> list[str]:
    """Return two models that stand for what attention changes: the first that aligns and the first that does not.

    Of those in Figure 2, else of all; the first two where all are of a kind; one where there is but one.
    """
    shown = [model for model in config.artifacts.figure2_models if model in config.models]
    models = shown or list(config.use.models)
    kinds = [[model for model in models if config.models[model].aligns is kind] for kind in (True, False)]
    return [kind[0] for kind in kinds] if all(kinds) else models[:2]


def playground_models(config: Config) -> list[str]:
    """Return the models of the page that translates in the browser, or none if a browser cannot compute them all."""
    asked = config.playground.models
    models = select_contrasted_models(config) if asked is None else asked
    possible = all(config.models[model].model_type in IN_BROWSER for model in models)
    return models if possible and not config.vocabulary.subwords else []
