"""Contradictions between settings each of which is valid by itself."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from nmt.settings.base import KeyPath, Problem, describe_differences, flatten, format_value, suggest_name
from nmt.settings.model_types import (
    MODEL_TYPES,
    MODEL_TYPES_IN_BROWSER,
    MODEL_TYPES_WITH_ATTENTION,
    MODEL_TYPES_WITH_TREES,
)
from pipeline.config.experiment import list_corpora, list_lm_corpora
from pipeline.config.runs import (
    MOSES,
    MOSES_WITH_RNNENC,
    SEED_SUFFIX,
    collect_runs,
    get_run_settings,
)
from pipeline.config.schema import Config

WITHOUT_ATTENTION = tuple(
    model_type for model_type in MODEL_TYPES if model_type not in MODEL_TYPES_WITH_ATTENTION
)

Problems = Iterator[Problem]


def find_contradictions(config: Config) -> list[Problem]:
    """Return all contradictions. If names are unknown, return only these problems: other checks look the names up."""
    for list_references in (_list_entry_references, _list_run_references):
        unknown_names = list(_find_unknown_names(list_references(config)))
        if unknown_names:
            return unknown_names
    checks = (
        _check_archives,
        _check_roles,
        _check_names,
        _check_model_types,
        _check_continuations,
        _check_grammar,
        _check_moses,
    )
    return list(chain.from_iterable(check(config) for check in checks))


# --- references to names ----------------------------------------------------------------------------------------------


class Reference(NamedTuple):
    """A key whose value names something, such as an entry of `corpora`."""

    key: KeyPath
    names: Iterable[str | None]
    """The names in the value of the key; None if it names nothing."""
    defined_in: str
    """Which names are allowed, in words: the entries of `corpora`."""
    known_names: Iterable[str]
    """The allowed names."""


USED_CATALOGUES = {
    "train": "corpora",
    "dev": "corpora",
    "test": "corpora",
    "models": "models",
    "systems": "systems",
    "rescored": "rescored",
}
"""The catalogue of the names at each key of `use`."""


def _find_unknown_names(references: Iterable[Reference]) -> Problems:
    """Yield a problem for each reference to a model, corpus, run or other name that is not defined."""
    for reference in references:
        known_names = list(reference.known_names)
        for name in reference.names:
            if name is not None and name not in known_names:
                expectation = f"expected one of {reference.defined_in}: {', '.join(known_names) or 'none'}"
                text = f"found {format_value(name)}, {expectation}{suggest_name(name, known_names)}"
                yield Problem(reference.key, text)


def _list_entry_references(config: Config) -> Iterator[Reference]:
    """Yield the references to entries of catalogues: corpora, archives, models, systems, and rescored lists."""
    # 1. entries that the experiment uses
    use, selection, moses = config.use, config.selection, config.moses
    for key, catalogue in USED_CATALOGUES.items():
        yield Reference(("use", key), getattr(use, key), f"`{catalogue}`", getattr(config, catalogue))

    # 2. text, and the model that scores phrases
    for corpus, entry in config.corpora.items():
        for name, side in entry.sides.items():
            yield Reference(
                ("corpora", corpus, name, "archive"), [side.archive], "`archives`", config.archives
            )
    if selection.enabled:
        yield Reference(("selection", "in_domain"), selection.in_domain, "`corpora`", config.corpora)
        yield Reference(("selection", "corpus_words"), selection.corpus_words, "`use.train`", use.train)
    if moses.enabled:
        yield Reference(("moses", "lm_corpora"), moses.lm_corpora, "`corpora`", config.corpora)
        yield Reference(("moses", "phrase_model"), [moses.phrase_model], "`models`", config.models)

    # 3. models and systems that tables, figures and pages show
    figure2_models = config.artifacts.figure2_models
    known_systems = use.models + use.systems
    yield Reference(
        ("artifacts", "figure2_models"), figure2_models, "`use.models` and `use.systems`", known_systems
    )
    for key_path, displayed_model, _ in _list_displayed_models(config):
        yield Reference(key_path, [displayed_model], "`use.models`", use.models)

    # 4. models that others continue; if a model is selected, the model that it continues must be selected, too
    for name, model in config.models.items():
        key_path, base = ("models", name, "continue_from"), [model.continue_from]
        if name in use.models:
            yield Reference(key_path, base, "`use.models`", use.models)
        else:
            yield Reference(key_path, base, "`models`", config.models)


def _list_run_references(config: Config) -> Iterator[Reference]:
    """Yield the references to runs that translate or rescore together, and to the n-best lists that they rescore."""
    runs = list(collect_runs(config, config.use.models))
    defined_in = "the runs of `use.models`"
    for name in config.use.systems:
        yield Reference(("systems", name, "members"), config.systems[name].members, defined_in, runs)
    for name in config.use.rescored:
        entry = config.rescored[name]
        yield Reference(("rescored", name, "members"), entry.members or [], defined_in, runs)
        key_path, lists = ("rescored", name, "n_best_list"), [entry.n_best_list]
        known_lists = [*config.n_best_lists, *runs, *config.use.systems]
        yield Reference(key_path, lists, f"`n_best_lists`, {defined_in}, and `use.systems`", known_lists)


class DisplayedModel(NamedTuple):
    """A key that names the model of a table, figure or page."""

    key: KeyPath
    model: str
    model_types: Sequence[str] = tuple(MODEL_TYPES)
    """The types that the model may have: only a model with attention has alignments to show."""


def _list_displayed_models(config: Config) -> Iterator[DisplayedModel]:
    """Yield the models that tables, figures and pages show."""
    artifacts, vectors = config.artifacts, config.sentence_vectors
    if artifacts.figure3_model:
        yield DisplayedModel(
            ("artifacts", "figure3_model"), artifacts.figure3_model, MODEL_TYPES_WITH_ATTENTION
        )
    if artifacts.tree_model:
        yield DisplayedModel(("artifacts", "tree_model"), artifacts.tree_model, MODEL_TYPES_WITH_TREES)
    if vectors:
        yield DisplayedModel(("sentence_vectors", "model"), vectors.model, WITHOUT_ATTENTION)
    for model in config.playground.models or []:
        yield DisplayedModel(("playground", "models"), model, MODEL_TYPES_IN_BROWSER)
    for model in artifacts.table3_models:
        yield DisplayedModel(("artifacts", "table3_models"), model)
    for baseline, models in (artifacts.ablations or {}).items():
        for model in (baseline, *models):
            yield DisplayedModel(("artifacts", "ablations", baseline), model)


# --- other checks -----------------------------------------------------------------------------------------------------


def _check_archives(config: Config) -> Problems:
    """Check that archives with different addresses have different paths: each is downloaded to its path."""
    urls: dict[str, str] = {}
    for name, archive in config.archives.items():
        if urls.setdefault(archive.path, archive.url) != archive.url:
            text = f"found {format_value(archive.path)}, the path of a different archive; set a `path` for this one"
            yield Problem(("archives", name, "path"), text)


def _check_roles(config: Config) -> Problems:
    """Check the shards of sets and the in-domain text of a selection, and that no corpus has two roles."""
    use, selection = config.use, config.selection
    (test,) = use.test  # the settings require exactly one

    # 1. corpora that the settings need
    for corpus in [test, *use.dev]:
        if config.corpora[corpus].shards != 1:
            text = "expected 1: test and development text is read in order"
            yield Problem(("corpora", corpus, "shards"), text)
    if selection.enabled and not selection.in_domain:
        yield Problem(("selection", "in_domain"), "found none, expected corpora of the domain")

    # 2. corpora with two roles
    roles: dict[KeyPath, Sequence[str]] = {("use", "train"): use.train, ("use", "dev"): use.dev}
    if selection.enabled:
        roles["selection", "in_domain"] = selection.in_domain
    for key, corpora in roles.items():
        if test in corpora:
            yield Problem(key, f"found {format_value(test)}, which is the test corpus")
    for corpus in set(use.dev) & set(use.train):
        yield Problem(("use", "dev"), f"found {format_value(corpus)}, which is training text")


def _check_names(config: Config) -> Problems:
    """Check that models, their runs, systems and the phrase-based systems all have different names."""
    # 1. a model called rnnsearch.seed-2 would take the place of the second run of the model rnnsearch
    for model in config.models:
        if SEED_SUFFIX.search(model):
            yield Problem(("models", model), "a name cannot end in .seed-NUMBER: this is how runs are named")

    # 2. names that are used twice
    names = {MOSES, MOSES_WITH_RNNENC}
    blocks = {"models": config.models, "systems": config.use.systems, "rescored": config.use.rescored}
    for block, entries in blocks.items():
        for name in entries:
            if name in names:
                yield Problem((block, name), "another model or system has this name, expected a new one")
        # runs only after the models, since the first run of a model has the model's name
        names.update(entries, collect_runs(config), config.n_best_lists)


def _check_model_types(config: Config) -> Problems:
    """Check that each figure and page has a model of a suitable type: only a grConv makes trees."""
    for key, model, model_types in _list_displayed_models(config):
        model_type = config.models[model].model_type
        if model_type not in model_types:
            expectation = f"expected a model of type {' or '.join(model_types)}"
            yield Problem(key, f"found {format_value(model)}, an {model_type}, {expectation}")


def _check_continuations(config: Config) -> Problems:
    """Check each selected model that continues the training of another model."""
    for name in config.use.models:
        base = config.models[name].continue_from
        if base is None:
            continue
        if base == name or config.models[base].continue_from:
            text = f"found {format_value(base)}, expected a different model that does not itself continue one"
            yield Problem(("models", name, "continue_from"), text)
        else:
            yield from _check_continuation(config, name, base)


def _check_continuation(config: Config, name: str, base: str) -> Problems:
    """Check the settings, seeds and updates of a model that continues the training of `base`.

    The trainer would find the same problems, but only hours later.
    """
    # 1. settings on which the weights depend must be equal
    runs = collect_runs(config, [name, base])
    fields = flatten(get_run_settings(config, runs[name]).fingerprint_fields())
    base_fields = flatten(get_run_settings(config, runs[base]).fingerprint_fields())
    differences = describe_differences(base_fields, fields, ignore=frozenset({"seed", "continue_from"}))
    if differences:
        yield Problem(("models", name), f"expected the settings of {base}, which it continues: {differences}")

    # 2. each run continues the run of the same seed, so the other model must have this seed, too
    surplus_seeds = [run.seed for run in runs.values() if run.base and run.base not in runs]
    if surplus_seeds:
        text = f"found {surplus_seeds}, expected seeds of {base}, whose runs it continues"
        yield Problem(("models", name, "seeds"), text)

    # 3. it must have more updates than the other model, since they are counted from the start of that training
    updates = config.models[name].training.updates
    base_updates = config.models[base].training.updates
    if updates <= base_updates:
        text = f"found {updates}, expected more than the {base_updates} of {base}: they are counted from its start"
        yield Problem(("models", name, "training", "updates"), text)


def _check_grammar(config: Config) -> Problems:
    """Check that generated text is in the languages of the grammar, and that models read it."""
    languages = f"{config.languages.source}-{config.languages.target}"
    if any(config.corpora[corpus].grammar for corpus in list_corpora(config)) and languages != "en-fr":
        yield Problem(("languages",), f"found {languages}, expected en-fr: the grammar writes nothing else")
    for corpus in list_lm_corpora(config):
        if config.corpora[corpus].grammar:
            text = (
                f"found {format_value(corpus)}, which is generated; expected corpora from archives or files"
            )
            yield Problem(("moses", "lm_corpora"), text)


def _check_moses(config: Config) -> Problems:
    """Check Moses' text, and that the model that scores phrases does not also translate sentences."""
    moses = config.moses
    if not moses.enabled:
        return
    if moses.phrase_model in config.use.models:
        text = f"found {format_value(moses.phrase_model)}, expected a model that is not in `use.models`"
        yield Problem(("moses", "phrase_model"), text)
    if not config.tokenization.escape:
        text = "found false, expected true with `moses.enabled`: Moses reads | < [ as its own notation"
        yield Problem(("tokenization", "escape"), text)
