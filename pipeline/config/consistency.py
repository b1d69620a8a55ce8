"""Contradictions between settings that are valid each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from nmt.settings.base import KeyPath, Problem, flatten, nearest, shown
from nmt.settings.model_types import ALIGNING, IN_BROWSER, MODEL_TYPES, TREE_MAKING
from pipeline.config.runs import (
    PHRASE_BASED,
    SEED_SUFFIX,
    WITH_PHRASE_MODEL,
    collect_runs,
    get_seeds,
    run_name,
    run_settings,
)
from pipeline.config.schema import Config

WITHOUT_ATTENTION = tuple(model_type for model_type in MODEL_TYPES if model_type not in ALIGNING)


def contradictions(config: Config) -> list[Problem]:
    """Return all contradictions. Unknown names are returned alone, since the other checks look names up."""
    checks = (_roles, _names, _model_types, _continuations, _grammar, _moses)
    return list(_unknown_names(config)) or list(chain.from_iterable(check(config) for check in checks))


Reference = tuple[KeyPath, Iterable[str | None], str, Iterable[str]]
"""A key, the names at it, and where they must be found: in words, and the names there."""


def _unknown_names(config: Config) -> Iterator[Problem]:
    for path, names, where, known in _references(config):
        known = list(known)
        for name in names:
            if name is not None and name not in known:
                text = f"found {shown(name)}, expected one of {where}: {', '.join(known) or 'none'}"
                yield Problem(path, text + nearest(name, known))


def _references(config: Config) -> Iterator[Reference]:
    use, artifacts, moses = config.use, config.artifacts, config.moses
    corpora, models = ("`corpora`", list(config.corpora)), ("`models`", list(config.models))
    used = "`use.models`", use.models
    for key, names in use:
        catalogue = "corpora" if key in ("train", "dev", "test") else key
        yield ("use", key), names, f"`{catalogue}`", getattr(config, catalogue)
    for name, corpus in config.corpora.items():
        for side, text in corpus.sides.items():
            yield ("corpora", name, side, "archive"), [text.archive], "`archives`", config.archives
    if config.selection.enabled:
        yield ("selection", "in_domain"), config.selection.in_domain, *corpora
        yield ("selection", "corpus_words"), config.selection.corpus_words, "`use.train`", use.train
    systems = "`use.models` and `use.systems`", [*use.models, *use.systems]
    yield ("artifacts", "figure2_models"), artifacts.figure2_models, *systems
    yield ("artifacts", "figure3_model"), [artifacts.figure3_model], *used
    yield ("artifacts", "table3_models"), artifacts.table3_models, *used
    yield ("artifacts", "tree_model"), [artifacts.tree_model], *used
    for baseline, others in (artifacts.ablations or {}).items():
        yield ("artifacts", "ablations", baseline), [baseline, *others], *used
    yield ("playground", "models"), config.playground.models or [], *used
    if config.sentence_vectors:
        yield ("sentence_vectors", "model"), [config.sentence_vectors.model], *used
    runs = []
    for name in use.models:
        if name in config.models:
            seeds = get_seeds(config, name)
            runs += [run_name(name, seed, seeds) for seed in seeds]
    for name, model in config.models.items():
        known = used if name in use.models else models
        yield ("models", name, "continue_from"), [model.continue_from], *known
    for name in use.systems:
        if name in config.systems:
            yield ("systems", name, "members"), config.systems[name].members, "the runs of `use.models`", runs
    for name in use.rescored:
        if name in config.rescored:
            entry, lists = config.rescored[name], [*config.n_best_lists, *runs, *use.systems]
            yield (
                ("rescored", name, "n_best_list"),
                [entry.n_best_list],
                "`n_best_lists` and what is in use",
                lists,
            )
            yield ("rescored", name, "members"), entry.members or [], "the runs of `use.models`", runs
    if moses.enabled:
        yield ("moses", "lm_corpora"), moses.lm_corpora, *corpora
        yield ("moses", "phrase_model"), [moses.phrase_model], *models


def _roles(config: Config) -> Iterator[Problem]:
    """Check that the test corpus has one shard, and that no corpus has two roles."""
    use, selection = config.use, config.selection
    (test,) = use.test
    if config.corpora[test].shards != 1:
        yield Problem(("corpora", test, "shards"), "expected 1 of the test corpus, which is read in order")
    roles: dict[KeyPath, Sequence[str]] = {("use", "train"): use.train, ("use", "dev"): use.dev}
    if selection.enabled:
        roles[("selection", "in_domain")] = selection.in_domain
        if not selection.in_domain:
            yield Problem(("selection", "in_domain"), "found none, expected corpora of the domain")
    for path, names in roles.items():
        if test in names:
            yield Problem(path, f"found {shown(test)}, which is the test corpus")
    for name in set(use.dev) & set(use.train):
        yield Problem(("use", "dev"), f"found {shown(name)}, which is training text")


def _names(config: Config) -> Iterator[Problem]:
    """Check that models, their runs, systems and the phrase-based system have names of their own."""
    use, phrase_based = config.use, {PHRASE_BASED, WITH_PHRASE_MODEL}
    for name in config.models:
        if SEED_SUFFIX.search(name):
            yield Problem(("models", name), "expected a name that does not end as a run's, in .seed-NUMBER")
    models = {*config.models, *collect_runs(config, use.models)}
    taken = {"models": phrase_based, "systems": phrase_based | models}
    taken["rescored"] = taken["systems"] | {*config.n_best_lists, *use.systems}
    for catalogue, others in taken.items():
        for name in getattr(use, catalogue):
            if name in others:
                yield Problem((catalogue, name), "the name of another model or system, expected its own")


def _model_types(config: Config) -> Iterator[Problem]:
    """Check that the model of a figure or page is of a model type that can do what is shown."""
    artifacts, vectors = config.artifacts, config.sentence_vectors
    shown_models: list[tuple[KeyPath, str | None, Sequence[str]]] = [
        (("artifacts", "figure3_model"), artifacts.figure3_model, ALIGNING),
        (("artifacts", "tree_model"), artifacts.tree_model, TREE_MAKING),
        (("sentence_vectors", "model"), vectors.model if vectors else None, WITHOUT_ATTENTION),
    ]
    in_browser = config.playground.models or []
    shown_models += [(("playground", "models"), name, IN_BROWSER) for name in in_browser]
    for path, name, model_types in shown_models:
        if name is not None and (model_type := config.models[name].model_type) not in model_types:
            text = (
                f"found {shown(name)}, an {model_type}, expected a model of type {' or '.join(model_types)}"
            )
            yield Problem(path, text)


def _continuations(config: Config) -> Iterator[Problem]:
    for name in config.use.models:
        base = config.models[name].continue_from
        if base is None:
            continue
        if base == name or config.models[base].continue_from:
            text = f"found {shown(base)}, expected another model that does not continue one itself"
            yield Problem(("models", name, "continue_from"), text)
        else:
            yield from _continuation(config, name, base)


def _continuation(config: Config, name: str, base: str) -> Iterator[Problem]:
    """Check what a model must have in common with the one it continues from, as its trainer will."""
    runs = collect_runs(config, [name, base])
    mine, theirs = (flatten(run_settings(config, runs[model]).fingerprint_fields()) for model in (name, base))
    for key in sorted((mine.keys() | theirs.keys()) - {"seed", "continue_from"}):
        found, expected = mine.get(key), theirs.get(key)
        if found != expected:
            text = f"found {shown(found)}, expected {expected!r} as in {base}, from which it continues"
            yield Problem(("models", name, *key.split(".")), text)
    if surplus := [run.seed for run in runs.values() if run.base not in (None, *runs)]:
        text = f"found {surplus}, expected seeds of {base}, from whose runs it continues"
        yield Problem(("models", name, "seeds"), text)
    updates, before = (config.models[model].training.updates for model in (name, base))
    if updates <= before:
        text = f"found {updates}, expected more than the {before} of {base}: they count from the start"
        yield Problem(("models", name, "training", "updates"), text)


def _grammar(config: Config) -> Iterator[Problem]:
    pair = config.languages.source, config.languages.target
    used = (*config.use.train, *config.use.dev, *config.use.test)
    if any(config.corpora[name].grammar for name in used) and pair != ("en", "fr"):
        text = f"found {'-'.join(pair)}, expected en-fr: the grammar writes nothing else"
        yield Problem(("languages",), text)


def _moses(config: Config) -> Iterator[Problem]:
    """Check that Moses' text is escaped, and that the model of its phrases learns nothing else."""
    moses = config.moses
    if moses.enabled and moses.phrase_model in config.use.models:
        text = f"found {shown(moses.phrase_model)}, which is in use and learns sentences"
        yield Problem(("moses", "phrase_model"), text)
    if moses.enabled and not config.tokenization.escape:
        text = "found false, expected true where `moses.enabled` is: Moses takes | < [ for its own notation"
        yield Problem(("tokenization", "escape"), text)
