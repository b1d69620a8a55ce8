"""The corpora, shards, archives and models that an experiment uses."""

import os
from collections.abc import Iterable
from pathlib import Path

from nmt.settings.model_types import MODEL_TYPES_IN_BROWSER
from nmt.store.model_folder import NEEDED_FILES, TEXT_SETTINGS
from pipeline.config.schema import Config

FOLDERS_OF_RUN = ("data", "moses", "translations")
"""Folders whose files, if the settings name them, are made by the run itself."""
COMMON_BUDGET = "common_budget"
"""A name that no corpus can have, for its underscore."""

# --- corpora ----------------------------------------------------------------------------------------------------------


def list_in_domain_corpora(config: Config) -> list[str]:
    """Return the corpora that the selection takes for in-domain text."""
    return list(config.selection.in_domain) if config.selection.enabled else []


def list_corpora(config: Config) -> list[str]:
    """Return the training, development, test and in-domain corpora, each once."""
    use = config.use
    corpora = use.train + use.dev + use.test + list_in_domain_corpora(config)
    return list(dict.fromkeys(corpora))


def list_lm_corpora(config: Config) -> list[str]:
    """Return the corpora from which only the phrase-based system's language model is trained."""
    if not config.measures_moses:
        return []
    prepared_for_models = list_corpora(config)
    return [corpus for corpus in config.moses.lm_corpora if corpus not in prepared_for_models]


def list_prepared_corpora(config: Config) -> list[str]:
    """Return the corpora that this experiment prepares itself: none if it takes its text from another one."""
    return [] if config.data_from else list_corpora(config)


def get_role(config: Config, corpus: str) -> str:
    """Return the role of a corpus: train, dev, test or, if only the selection compares with it, in-domain."""
    roles = {"train": config.use.train, "dev": config.use.dev, "test": config.use.test}
    for role, corpora in roles.items():
        if corpus in corpora:
            return role
    return "in-domain"


# --- the user's own files, and too many shards -----------------------------------------------------------------------


def find_missing_files(config: Config) -> list[str]:
    """Return a line for each of the user's own files that this run reads and that is missing."""
    lines = []
    for key, file in collect_named_files(config):
        if not Path(file).is_file():
            lines.append(
                f"{key}: {file}: no such file; a relative path is relative to the file that contains it"
            )
    return lines


def collect_named_files(config: Config) -> list[tuple[str, str]]:
    """Return the keys and paths of the user's own files: text, an initial model, results of other tools."""
    artifacts, moses = config.artifacts, config.moses
    files: list[tuple[str, str | None]] = []

    # text that is prepared by this run; with pretrained models this is only the test set
    corpora = config.use.test if config.pretrained.models else list_prepared_corpora(config)
    for corpus in corpora + list_lm_corpora(config):
        for name, side in config.corpora[corpus].sides.items():
            files.append((f"corpora.{corpus}.{name}.file", side.file))

    # the model that the trainings begin with
    if config.init_from:
        for name in (*NEEDED_FILES, TEXT_SETTINGS):
            files.append(("init_from", f"{config.init_from}/{name}"))

    # results of other tools
    files.append(("artifacts.gold_alignments", artifacts.gold_alignments))
    used_lists = {config.rescored[name].n_best_list for name in config.use.rescored}
    for name, file in config.n_best_lists.items():
        if name in used_lists:
            files.append((f"n_best_lists.{name}", file))
    if moses.enabled:
        files += [("moses.lm_text", file) for file in moses.lm_text]
    else:
        files.append(("artifacts.moses_translations", artifacts.moses_translations))

    return [(key, file) for key, file in files if file and file.split("/")[0] not in FOLDERS_OF_RUN]


def find_surplus_shards(config: Config) -> list[str]:
    """Return a line for each corpus with more shards on the disk than in the settings.

    Jobs would ignore the surplus shards, and so lose a part of the text.
    """
    lines = []
    for corpus in list_prepared_corpora(config) + list_lm_corpora(config):
        shards = config.corpora[corpus].shards
        # shards are numbered from 0, so the first surplus shard has this number
        surplus_files = list(Path("data").glob(f"*/{corpus}/{shards}.*"))
        if surplus_files:
            lines.append(
                f"corpora.{corpus}.shards: {shards}, but {surplus_files[0].parent} has more; set the number back, or"
                f" remove data/*/{corpus}: then the text is divided again, and the results stay the same"
            )
    return lines


def list_folders_of_jobs(config: Config) -> list[Path]:
    """Return the folders besides the experiment's that its jobs may read or write.

    The settings name them, links in the experiment's folder lead to them, or programs keep their caches there.
    """
    # folders that the settings name
    paths = [os.path.dirname(file) for _, file in collect_named_files(config)]
    paths += [path for path in (config.data_from, config.pretrained.models) if path]
    paths += [mirror for mirror in config.mirrors if "://" not in mirror]

    # links of the experiment's folder, and the cache
    for entry in Path().iterdir():
        if entry.is_symlink() and entry.is_dir():
            paths.append(os.path.realpath(entry))
    paths.append(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return list(map(Path, paths))


# --- shards and stages of text ----------------------------------------------------------------------------------------


def list_shards(config: Config, corpora: Iterable[str]) -> list[str]:
    """Return every shard of some corpora as CORPUS/NUMBER, in order."""
    return [f"{corpus}/{shard}" for corpus in corpora for shard in range(config.corpora[corpus].shards)]


def list_stages(config: Config, corpus: str) -> list[str]:
    """Return the stages of a corpus' tokenized text, in order: folders in `data`."""
    is_selected = corpus in config.use.train and config.selection.enabled
    return ["tokens", "selected"] if is_selected else ["tokens"]


def get_final_stage(config: Config) -> str:
    """Return the stage of the training text that models are trained on."""
    return "selected" if config.selection.enabled else "tokens"


# --- word budgets of the selection ------------------------------------------------------------------------------------


def collect_budgets(config: Config) -> dict[str, list[str]]:
    """Return the training corpora of each word budget.

    A corpus with a budget of its own stands under its name; the other corpora share `COMMON_BUDGET`.
    """
    budgets: dict[str, list[str]] = {}
    for corpus in config.use.train:
        budget = corpus if corpus in config.selection.corpus_words else COMMON_BUDGET
        budgets.setdefault(budget, []).append(corpus)
    return budgets


# --- archives ---------------------------------------------------------------------------------------------------------


def list_archives(config: Config, corpora: Iterable[str]) -> list[str]:
    """Return the names of the archives in which some corpora are, each once, in order."""
    archives = []
    for corpus in corpora:
        archives += [side.archive for side in config.corpora[corpus].sides.values() if side.archive]
    return list(dict.fromkeys(archives))


# --- models that a page shows -----------------------------------------------------------------------------------------


def select_contrasted_models(config: Config) -> list[str]:
    """Return two models whose comparison shows what attention changes: the first with attention and the first without.

    They are chosen from the models of Figure 2, or else from all selected models. If all have attention or none has,
    the first two are returned, or the only one.
    """
    # the setting may also name systems, such as ensembles
    models = [model for model in config.artifacts.figure2_models if model in config.models]
    if not models:
        models = config.use.models

    with_attention = [model for model in models if config.models[model].has_attention]
    without_attention = [model for model in models if not config.models[model].has_attention]
    if with_attention and without_attention:
        return [with_attention[0], without_attention[0]]
    return models[:2]


def select_playground_models(config: Config) -> list[str]:
    """Return the models of the page that translates in the browser, or [] if a browser cannot compute them all."""
    if config.vocabulary.subwords:
        return []
    models = config.playground.models
    if models is None:
        models = select_contrasted_models(config)
    model_types = {config.models[model].model_type for model in models}
    return models if model_types.issubset(MODEL_TYPES_IN_BROWSER) else []
