"""Contradictions between settings that are valid each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nmt.settings.families import ALIGNING, IN_BROWSER, TREE_MAKING
from nmt.settings.faults import KeyPath, Problem, nearest, shown
from nmt.settings.training import RESUMABLE, ModelEntry, Training
from pipeline.config.catalogue import RescoredEntry, SystemEntry
from pipeline.config.runs import LATER, run_name, seeds_of
from pipeline.config.schema import Config

CONTINUED = tuple(key for key in Training.model_fields if key not in RESUMABLE)
"""Training settings that a model must share with the one it continues from."""

PHRASE_BASED, WITH_PHRASE_MODEL = "moses", "moses-rnnenc"
"""Names of the phrase-based system in every table, and of the one whose phrase table a model has scored."""

PATHS = (
    ("mirrors",),
    ("data_from",),
    ("released", "models"),
    ("artifacts", "gold_alignments"),
    ("artifacts", "moses_translations"),
    ("artifacts", "moses_dev_translations"),
    ("moses", "lm_text"),
)
"""Keys of paths, or of lists of paths, besides `n_best_lists` and corpora. Paths are relative to the file that states
them."""


def paths(values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return all keys of files and folders in merged settings, which may still be faulty."""
    corpora, lists = (_entries(values.get(key)) for key in ("corpora", "n_best_lists"))
    text = [("corpora", name, side, "file") for name in corpora for side in ("source", "target")]
    return [*PATHS, *(("n_best_lists", name) for name in lists), *text]


def _entries(catalogue: Any) -> Mapping[str, Any]:
    return catalogue if isinstance(catalogue, Mapping) else {}


def contradictions(config: Config) -> list[Problem]:
    """Return all contradictions. Unknown names are returned alone, since the other checks look names up."""
    if unknown := list(_uses(config)):
        return unknown
    checks = (
        _paths,
        _roles,
        _archives,
        _seeds,
        _systems,
        _continuations,
        _selection,
        _artifacts,
        _sentence_vectors,
        _ablations,
        _languages,
        _moses,
    )
    return [problem for check in checks for problem in check(config)]


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    known = list(known)
    guess = nearest(name, known)
    return f"found {shown(name)}, which {what} lacks{guess}; known: {', '.join(known) or 'none'}"


def _lacking(path: KeyPath, names: Iterable[str], what: str, known: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each of the names that `known` lacks."""
    known = list(known)
    return (Problem(path, _unknown(name, what, known)) for name in names if name not in known)


def _twice(path: KeyPath, found: Sequence[Any], what: str) -> Iterator[Problem]:
    """Yield a problem for each entry that a list has twice."""
    for entry in sorted({entry for entry in found if found.count(entry) > 1}):
        yield Problem(path, f"found {shown(entry)} twice, expected each {what} once")


def _uses(config: Config) -> Iterator[Problem]:
    for key, names in config.use:
        catalogue = "corpora" if key in ("train", "dev", "test") else key
        yield from _lacking(("use", key), names, f"the catalogue `{catalogue}`", getattr(config, catalogue))
        yield from _twice(("use", key), names, "name")


def _paths(config: Config) -> Iterator[Problem]:
    """Check that there are no braces in what becomes part of a rule's files."""
    values = config.model_dump()
    for path in paths(values):
        named: Any = values
        for key in path:
            named = named.get(key) if named else None
        for found in named if isinstance(named, list) and path != ("mirrors",) else [named]:
            if isinstance(found, str) and {"{", "}"} & set(found):
                text = f"found {shown(found)}, expected no braces, which are Snakemake's wildcards: rename it"
                yield Problem(path, text)


def _roles(config: Config) -> Iterator[Problem]:
    """Check that there is one test corpus, in one shard, and no corpus in two roles."""
    use = config.use
    if len(use.test) > 1:
        yield Problem(("use", "test"), f"found {len(use.test)} corpora, expected one")
    for name in use.test:
        if config.corpora[name].shards != 1:
            yield Problem(("corpora", name, "shards"), "the test corpus is read in order: expected 1 shard")
        for role in ("train", "dev"):
            if name in getattr(use, role):
                text = f"found {shown(name)}, which is the test corpus: expected others"
                yield Problem(("use", role), text)
    for name in use.dev:
        if name in use.train:
            text = f"found {shown(name)}, which is a development corpus: expected others"
            yield Problem(("use", "train"), text)


def _archives(config: Config) -> Iterator[Problem]:
    """Check that no two archives share a place, and that every side of a corpus names a known archive."""
    places: dict[str, str] = {}
    for name, archive in config.archives.items():
        if places.setdefault(archive.path, name) != name:
            other = places[archive.path]
            text = f"found {shown(archive.path)}, which is that of {other}: expected a place of its own"
            yield Problem(("archives", name, "path"), text)
    for name, corpus in config.corpora.items():
        for side, member in corpus.sides.items():
            path, named = ("corpora", name, side, "archive"), [member.archive] if member.archive else []
            yield from _lacking(path, named, "the catalogue `archives`", config.archives)


def _seeds(config: Config) -> Iterator[Problem]:
    """Check that no seed comes twice, and that no model has the name of another's run."""
    yield from _twice(("seeds",), config.seeds or [], "seed")
    for name, model in config.models.items():
        yield from _twice(("models", name, "seeds"), model.seeds or [], "seed")
        if LATER.search(name):
            text = "the name is that of a run: expected one that does not end in .seed-NUMBER"
            yield Problem(("models", name), text)


def _systems(config: Config) -> Iterator[Problem]:
    """Check that systems and rescored lists have names of their own, members among the runs in use, and known lists."""
    use, runs = config.use, _runs(config)
    for kind in ("models", "systems", "rescored"):
        for name in {PHRASE_BASED, WITH_PHRASE_MODEL} & set(getattr(use, kind)):
            text = "the name is that of the phrase-based system: expected another one"
            yield Problem((kind, name), text)
    for name in use.systems:
        if name in runs or name in config.models:
            yield Problem(("systems", name), "the name is that of a model or its run: expected another one")
        yield from _members(config, ("systems", name), config.systems[name], runs)
    taken = [*config.n_best_lists, *runs, *use.systems]
    for name in use.rescored:
        if name in taken or name in config.models:
            text = "the name is that of a model or another system: expected another one"
            yield Problem(("rescored", name), text)
        path, lists = ("rescored", name, "lists"), [config.rescored[name].lists]
        yield from _lacking(path, lists, "`n_best_lists` and what is in use", taken)
        yield from _members(config, ("rescored", name), config.rescored[name], runs)


def _runs(config: Config) -> dict[str, str]:
    """Return the models by the names of their runs, of the models in use."""
    return {
        run_name(model, seed, seeds_of(config, model)): model
        for model in config.use.models
        for seed in seeds_of(config, model)
    }


def _members(
    config: Config, path: KeyPath, entry: SystemEntry | RescoredEntry, runs: Mapping[str, str]
) -> Iterator[Problem]:
    members, path = entry.members or [], (*path, "members")
    yield from _lacking(path, members, "`use.models` with its seeds", runs)
    yield from _twice(path, members, "run")
    ends = {run: config.models[runs[run]].architecture.source_end for run in members if run in runs}
    if len(set(ends.values())) > 1:
        text = (
            f"found {ends}, expected members with one `architecture.source_end`: they read a source together"
        )
        yield Problem(path, text)


def _continuations(config: Config) -> Iterator[Problem]:
    for name in config.use.models:
        path, base = ("models", name, "continue_from"), config.models[name].continue_from
        if base is None:
            continue
        others = [other for other in config.use.models if other != name]
        if base not in others:
            yield Problem(path, _unknown(base, "`use.models` (the model itself left out)", others))
        elif config.models[base].continue_from:
            text = f"found {shown(base)}, which itself continues from another: expected one that does not"
            yield Problem(path, text)
        else:
            yield from _continuation(config, name, base)


def _continuation(config: Config, name: str, base: str) -> Iterator[Problem]:
    """Check what a model must have in common with the one it continues from."""
    mine, theirs = config.models[name], config.models[base]
    same_family = mine.family == theirs.family
    shared = ["family", "max_words", *(f"training.{key}" for key in CONTINUED)]
    shared += [f"architecture.{key}" for key in type(mine.architecture).model_fields if same_family]
    for key in shared:
        path = key.split(".")
        own, wanted = (_at(entry, path) for entry in (mine, theirs))
        if own != wanted:
            text = f"found {shown(own)}, expected {wanted!r} as in {base}, from which it continues"
            yield Problem(("models", name, *path), text)
    seeds = seeds_of(config, base)
    for seed in seeds_of(config, name):
        if seed not in seeds:
            text = f"found {seed}, expected seeds of {base}, from whose runs it continues: {seeds}"
            yield Problem(("models", name, "seeds"), text)
    updates, before = mine.training.updates, theirs.training.updates
    if updates <= before:
        text = f"found {updates}, expected more than the {before} of {base}: they count from the start"
        yield Problem(("models", name, "training", "updates"), text)


def _at(entry: ModelEntry, path: Sequence[str]) -> object:
    value: object = entry
    for key in path:
        value = getattr(value, key)
    return value


def _selection(config: Config) -> Iterator[Problem]:
    selection = config.selection
    if not selection.enabled:
        return
    if not selection.in_domain:
        yield Problem(("selection", "in_domain"), "found none, expected corpora, since selection is enabled")
    path = ("selection", "in_domain")
    yield from _lacking(path, selection.in_domain, "the catalogue `corpora`", config.corpora)
    for name in selection.in_domain:
        if name in config.use.test:
            yield Problem(path, f"found {shown(name)}, which is the test corpus: expected others")
    for name in selection.corpus_words:
        yield from _lacking(("selection", "corpus_words", name), [name], "`use.train`", config.use.train)


def _artifacts(config: Config) -> Iterator[Problem]:
    artifacts, used = config.artifacts, config.use.models
    curves, shown_in_table = artifacts.figure2_models, artifacts.table3_models
    path = ("artifacts", "figure2_models")
    yield from _lacking(path, curves, "`use.models` and `use.systems`", [*used, *config.use.systems])
    yield from _lacking(("artifacts", "table3_models"), shown_in_table, "`use.models`", used)
    yield from _of_family(
        config, ("artifacts", "figure3_model"), artifacts.figure3_model, ALIGNING, "does not align"
    )
    yield from _of_family(
        config, ("artifacts", "tree_model"), artifacts.tree_model, TREE_MAKING, "makes no trees"
    )
    for name in config.playground.models or []:
        yield from _of_family(config, ("playground", "models"), name, IN_BROWSER, "no browser computes")
    least, most = artifacts.figure3_words
    if least > most:
        text = f"found {artifacts.figure3_words}, expected the smaller number first"
        yield Problem(("artifacts", "figure3_words"), text)


def _of_family(
    config: Config, path: KeyPath, name: str | None, families: Sequence[str], otherwise: str
) -> Iterator[Problem]:
    """Check that the model of a figure or page is in use, and of a family that can do what is shown."""
    if name is None:
        return
    if name not in config.use.models:
        yield Problem(path, _unknown(name, "`use.models`", config.use.models))
    elif config.models[name].family not in families:
        expected = f"expected a model of the family {' or '.join(families)}"
        yield Problem(path, f"found {shown(name)}, which {otherwise}: {expected}")


def _sentence_vectors(config: Config) -> Iterator[Problem]:
    """Check that the model of the figure is in use and has one vector per sentence."""
    if config.sentence_vectors is None:
        return
    path, model = ("sentence_vectors", "model"), config.sentence_vectors.model
    if model not in config.use.models:
        yield Problem(path, _unknown(model, "`use.models`", config.use.models))
    elif config.models[model].aligns:
        text = f"found {shown(model)}, which has a vector for each word: expected a model that does not align"
        yield Problem(path, text)


def _ablations(config: Config) -> Iterator[Problem]:
    """Check that a baseline and the models compared with it are in use, of one family, and different."""
    used = config.use.models
    for baseline, others in (config.artifacts.ablations or {}).items():
        path = ("artifacts", "ablations", baseline)
        yield from _lacking(path, [baseline, *others], "`use.models`", used)
        yield from _twice(path, others, "name")
        for name in dict.fromkeys(others):
            if baseline in used and name in used:
                yield from _ablation(path, name, config.models[name], config.models[baseline])


def _ablation(path: KeyPath, name: str, mine: ModelEntry, baseline: ModelEntry) -> Iterator[Problem]:
    if mine.family != baseline.family:
        families = f"an {mine.family}: expected an {baseline.family}"
        yield Problem(path, f"found {shown(name)}, which is {families} as the baseline")
    own, others = (entry.model_dump(exclude={"label", "seeds"}) for entry in (mine, baseline))
    if own == others:
        yield Problem(path, f"found {shown(name)}, which does not differ from the baseline in any setting")


def _languages(config: Config) -> Iterator[Problem]:
    source, target = config.languages.source, config.languages.target
    if source == target:
        yield Problem(("languages", "target"), f"found {shown(target)} twice, expected two languages")
    used = [config.corpora[name] for name in (*config.use.train, *config.use.dev, *config.use.test)]
    if any(corpus.grammar for corpus in used) and (source, target) != ("en", "fr"):
        text = f"found {source}-{target}, expected en-fr: the grammar writes nothing else"
        yield Problem(("languages",), text)


def _moses(config: Config) -> Iterator[Problem]:
    """Check that Moses is either measured or given, and that its text is escaped."""
    if not config.moses.enabled:
        return
    if (given := config.artifacts.moses_translations) is not None:
        text = f"found {shown(given)} beside `moses.enabled: true`, expected one of both"
        yield Problem(("artifacts", "moses_translations"), text)
    path = ("moses", "lm_corpora")
    yield from _lacking(path, config.moses.lm_corpora, "the catalogue `corpora`", config.corpora)
    yield from _twice(path, config.moses.lm_corpora, "name")
    if config.moses.lm_corpora and config.data_from:
        text = "found corpora beside `data_from`, which prepares no text: expected files of theirs in `moses.lm_text`"
        yield Problem(path, text)
    if (model := config.moses.phrase_model) is not None:
        path = ("moses", "phrase_model")
        yield from _lacking(path, [model], "the catalogue `models`", config.models)
        if model in config.use.models:
            text = f"found {shown(model)}, which is in use and learns sentences: expected a model of its own"
            yield Problem(path, text)
    if not config.tokenization.escape:
        text = "found false, expected true where `moses.enabled` is: Moses takes | < [ for its own notation"
        yield Problem(("tokenization", "escape"), text)
