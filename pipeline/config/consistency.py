"""Contradictions between settings that are each well formed.

Works on the merged but possibly faulty tree, so that these problems are reported together with wrong types
and typos: whatever has the wrong shape is skipped here, since the schema reports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nmt.settings.families import ALIGNING, FAMILIES, TREE_MAKING, FamilyName
from nmt.settings.faults import Problem, nearest, shown
from nmt.settings.text import LANGUAGES
from nmt.settings.training import RESUMABLE, Training
from pipeline.config.runs import LATER, run_name

CONTINUED = tuple(key for key in Training.model_fields if key not in RESUMABLE)
"""Training settings that a model shares with the one it continues from: the trainer would refuse it otherwise."""

PHRASE_BASED = "moses"
"""Its row in every table."""

PATHS = (
    ("mirrors",),
    ("data_from",),
    ("released", "models"),
    ("released", "results"),
    ("artifacts", "gold_alignments"),
    ("artifacts", "moses_translations"),
    ("artifacts", "moses_dev_translations"),
    ("moses", "lm_text"),
)
"""Keys of files and folders or lists of them, relative to the file that says it; beside `n_best_lists` and corpora."""


def paths(values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """All keys of files and folders."""
    corpora = _block(values, "corpora")
    text = [("corpora", name, side, "file") for name in corpora for side in ("source", "target")]
    return [*PATHS, *(("n_best_lists", name) for name in _block(values, "n_best_lists")), *text]


def contradictions(values: Mapping[str, Any]) -> list[Problem]:
    """All contradictions in the merged settings."""
    checks = (
        _uses,
        _released,
        _paths,
        _roles,
        _archives,
        _seeds,
        _systems,
        _continuations,
        _selection,
        _artifacts,
        _sentence_vectors,
        _languages,
        _cleaning,
        _moses,
    )
    return [problem for check in checks for problem in check(values)]


def _block(values: Any, *path: str) -> Mapping[str, Any]:
    for part in path:
        values = values.get(part) if isinstance(values, Mapping) else None
    return values if isinstance(values, Mapping) else {}


def _names(values: Mapping[str, Any], *path: str) -> list[str]:
    found = _block(values, *path[:-1]).get(path[-1])
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    known = list(known)
    guess = nearest(name, known)
    return f"found {shown(name)}, which {what} lacks{guess}; known: {', '.join(known) or 'none'}"


def _uses(values: Mapping[str, Any]) -> Iterator[Problem]:
    for key in ("train", "dev", "test", "models", "systems", "rescored"):
        catalogue = "corpora" if key in ("train", "dev", "test") else key
        names, known = _names(values, "use", key), _block(values, catalogue)
        for name in names:
            if name not in known:
                yield Problem(("use", key), _unknown(name, f"the catalogue `{catalogue}`", known))
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Problem(("use", key), f"found {shown(name)} twice, expected each name once")


def _released(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Models or translations of others, not both."""
    released = _block(values, "released")
    if released.get("models") is not None and released.get("results") is not None:
        text = f"found {shown(released['results'])} beside `released.models`, expected one of both to be null"
        yield Problem(("released", "results"), text)


def _paths(values: Mapping[str, Any]) -> Iterator[Problem]:
    """No braces in what becomes part of a rule's files."""
    for path in paths(values):
        named = _block(values, *path[:-1]).get(path[-1])
        for found in named if isinstance(named, list) and path != ("mirrors",) else [named]:
            if isinstance(found, str) and {"{", "}"} & set(found):
                text = f"found {shown(found)}, expected no braces, which are Snakemake's wildcards: rename it"
                yield Problem(path, text)


def _roles(values: Mapping[str, Any]) -> Iterator[Problem]:
    """One test corpus, in one piece, and no corpus in two roles."""
    tests = _names(values, "use", "test")
    if len(tests) > 1:
        yield Problem(("use", "test"), f"found {len(tests)} corpora, expected one")
    for name in tests:
        if _block(values, "corpora", name).get("shards", 1) != 1:
            yield Problem(("corpora", name, "shards"), "the test corpus is read in order: expected 1 shard")
        for role in ("train", "dev"):
            if name in _names(values, "use", role):
                yield Problem(
                    ("use", role), f"found {shown(name)}, which is the test corpus: expected others"
                )
    for name in _names(values, "use", "dev"):
        if name in _names(values, "use", "train"):
            yield Problem(
                ("use", "train"), f"found {shown(name)}, which is a development corpus: expected others"
            )


def _archives(values: Mapping[str, Any]) -> Iterator[Problem]:
    """No two archives in one place, and every side of a corpus in one that there is."""
    known = _block(values, "archives")
    places: dict[Any, str] = {}
    for name in known:
        path = _block(known, name).get("path")
        if isinstance(path, str) and places.setdefault(path, name) != name:
            text = f"found {shown(path)}, which is that of {places[path]}: expected a place of its own"
            yield Problem(("archives", name, "path"), text)
    for name in _block(values, "corpora"):
        for side in ("source", "target"):
            archive = _block(values, "corpora", name, side).get("archive")
            if isinstance(archive, str) and archive not in known:
                text = _unknown(archive, "the catalogue `archives`", known)
                yield Problem(("corpora", name, side, "archive"), text)


def _seeds(values: Mapping[str, Any]) -> Iterator[Problem]:
    """No seed twice, and no model whose name is that of another's run."""
    models = _block(values, "models")
    for path in [("seeds",), *(("models", name, "seeds") for name in models)]:
        seeds = _numbers(_block(values, *path[:-1]).get(path[-1]))
        for seed in sorted({seed for seed in seeds if seeds.count(seed) > 1}):
            yield Problem(path, f"found {seed} twice, expected each seed once")
    for name in models:
        if isinstance(name, str) and LATER.search(name):
            text = "the name is that of a run: expected one that does not end in .seed-NUMBER"
            yield Problem(("models", name), text)


def _systems(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Systems and rescored lists in use: names of their own, members among the runs in use, and known lists."""
    runs = _runs(values)
    models, systems = _block(values, "models"), _names(values, "use", "systems")
    for kind in ("models", "systems", "rescored"):
        if PHRASE_BASED in _names(values, "use", kind):
            text = "the name is that of the phrase-based system: expected another one"
            yield Problem((kind, PHRASE_BASED), text)
    for name in systems:
        if name in runs or name in models:
            yield Problem(("systems", name), "the name is that of a model or its run: expected another one")
        yield from _members(values, ("systems", name), runs)
    known = [*_block(values, "n_best_lists"), *runs, *systems]
    for name in _names(values, "use", "rescored"):
        if name in known or name in models:
            text = "the name is that of a model or another system: expected another one"
            yield Problem(("rescored", name), text)
        lists = _block(values, "rescored", name).get("lists")
        if isinstance(lists, str) and lists not in known:
            text = _unknown(lists, "`n_best_lists` and what is in use", known)
            yield Problem(("rescored", name, "lists"), text)
        yield from _members(values, ("rescored", name), runs)


def _runs(values: Mapping[str, Any]) -> list[str]:
    """Names of the runs of the models in use."""
    seeds = {model: _seeds_of(values, model) for model in _names(values, "use", "models")}
    return [run_name(model, seed, own) for model, own in seeds.items() for seed in own]


def _members(values: Mapping[str, Any], path: tuple[str, str], runs: list[str]) -> Iterator[Problem]:
    members = _names(values, *path, "members")
    for member in members:
        if member not in runs:
            yield Problem((*path, "members"), _unknown(member, "`use.models` with its seeds", runs))
    for member in sorted({member for member in members if members.count(member) > 1}):
        yield Problem((*path, "members"), f"found {shown(member)} twice, expected each run once")
    ends = {member: _source_end(values, member) for member in members if member in runs}
    if len(set(ends.values())) > 1:
        text = (
            f"found {ends}, expected members with one `architecture.source_end`: they read a source together"
        )
        yield Problem((*path, "members"), text)


def _source_end(values: Mapping[str, Any], run: str) -> object:
    """Whether a run's encoder reads the end symbol."""
    own = _block(values, "models", run.split(".seed-")[0], "architecture")
    return own.get("source_end", _block(values, "architecture").get("source_end"))


def _numbers(values: Any) -> list[int]:
    return [value for value in values if type(value) is int] if isinstance(values, list) else []


def _seeds_of(values: Mapping[str, Any], name: str) -> list[int]:
    """The seeds of a model: its own, the shared ones, or the one of everything."""
    own = _block(values, "models", name).get("seeds")
    return _numbers(own or values.get("seeds") or [values.get("seed")])


def _continuations(values: Mapping[str, Any]) -> Iterator[Problem]:
    used = _names(values, "use", "models")
    for name in used:
        base = _block(values, "models", name).get("continue_from")
        if not isinstance(base, str):
            continue
        path = ("models", name, "continue_from")
        if base not in used or base == name:
            others = [other for other in used if other != name]
            yield Problem(path, _unknown(base, "`use.models` (the model itself left out)", others))
        elif _block(values, "models", base).get("continue_from"):
            yield Problem(
                path, f"found {shown(base)}, which itself continues from another: expected one that does not"
            )
        else:
            yield from _continuation(values, name, base)


def _continuation(values: Mapping[str, Any], name: str, base: str) -> Iterator[Problem]:
    """What a model must have in common with the one it continues from."""
    mine, theirs = _block(values, "models", name), _block(values, "models", base)
    paths: list[tuple[str, ...]] = [("family",), ("max_words",)]
    paths += [("architecture", key) for key in _block(mine, "architecture")]
    paths += [("training", key) for key in CONTINUED]
    for path in paths:
        if len(path) > 1 and not _block(theirs, path[0]):
            continue  # no mapping, which the schema reports
        own, wanted = (_block(entry, *path[:-1]).get(path[-1]) for entry in (mine, theirs))
        if own != wanted:
            text = f"found {shown(own)}, expected {wanted!r} as in {base}, from which it continues"
            yield Problem(("models", name, *path), text)
    seeds = _seeds_of(values, base)
    for seed in _seeds_of(values, name):
        if seed not in seeds:
            text = f"found {seed}, expected seeds of {base}, from whose runs it continues: {seeds}"
            yield Problem(("models", name, "seeds"), text)
    updates, before = _block(mine, "training").get("updates"), _block(theirs, "training").get("updates")
    if isinstance(updates, int) and isinstance(before, int) and updates <= before:
        text = f"found {updates}, expected more than the {before} of {base}: they count from the start"
        yield Problem(("models", name, "training", "updates"), text)


def _selection(values: Mapping[str, Any]) -> Iterator[Problem]:
    if _block(values, "selection").get("enabled") is not True:
        return
    names, known = _names(values, "selection", "in_domain"), _block(values, "corpora")
    if not names:
        yield Problem(("selection", "in_domain"), "found none, expected corpora, since selection is enabled")
    for name in names:
        if name not in known:
            yield Problem(("selection", "in_domain"), _unknown(name, "the catalogue `corpora`", known))
        if name in _names(values, "use", "test"):
            text = f"found {shown(name)}, which is the test corpus: expected others"
            yield Problem(("selection", "in_domain"), text)
    training = _names(values, "use", "train")
    for name in _block(values, "selection", "corpus_words"):
        if name not in training:
            yield Problem(("selection", "corpus_words", name), _unknown(name, "`use.train`", training))


def _family(values: Mapping[str, Any], model: str) -> FamilyName | None:
    """The family of a model; None where there is none of that name, which the schema reports."""
    name = _block(values, "models", model).get("family")
    return next((family for family in FAMILIES if family == name), None)


def _artifacts(values: Mapping[str, Any]) -> Iterator[Problem]:
    used, artifacts = _names(values, "use", "models"), _block(values, "artifacts")
    curves = [*used, *_names(values, "use", "systems")]
    for key, known in (("figure2_models", curves), ("table3_models", used)):
        for name in _names(values, "artifacts", key):
            if name not in known:
                what = "`use.models`" if known == used else "`use.models` and `use.systems`"
                yield Problem(("artifacts", key), _unknown(name, what, known))
    aligner = artifacts.get("figure3_model")
    if isinstance(aligner, str) and aligner not in used:
        yield Problem(("artifacts", "figure3_model"), _unknown(aligner, "`use.models`", used))
    elif isinstance(aligner, str) and (family := _family(values, aligner)) and not FAMILIES[family].aligns:
        text = f"found {shown(aligner)}, which does not align: expected a model of the family {' or '.join(ALIGNING)}"
        yield Problem(("artifacts", "figure3_model"), text)
    tree = artifacts.get("tree_model")
    if isinstance(tree, str) and tree not in used:
        yield Problem(("artifacts", "tree_model"), _unknown(tree, "`use.models`", used))
    elif isinstance(tree, str) and (family := _family(values, tree)) and not FAMILIES[family].trees:
        text = f"found {shown(tree)}, which makes no trees: expected a model of the family {' or '.join(TREE_MAKING)}"
        yield Problem(("artifacts", "tree_model"), text)
    yield from _ablations(values, used)
    words = artifacts.get("figure3_words")
    if isinstance(words, list) and [type(word) for word in words] == [int, int] and words[0] > words[1]:
        yield Problem(("artifacts", "figure3_words"), f"found {words}, expected the smaller number first")


def _sentence_vectors(values: Mapping[str, Any]) -> Iterator[Problem]:
    """The model of the figure is in use and tells the decoder one vector of a sentence."""
    model, used = _block(values, "sentence_vectors").get("model"), _names(values, "use", "models")
    path = ("sentence_vectors", "model")
    if isinstance(model, str) and model not in used:
        yield Problem(path, _unknown(model, "`use.models`", used))
    elif isinstance(model, str) and _family(values, model) in ALIGNING:
        text = f"found {shown(model)}, which has a vector for each word: expected a model that does not align"
        yield Problem(path, text)


def _ablations(values: Mapping[str, Any], used: list[str]) -> Iterator[Problem]:
    """Baselines and what is compared with them: in use, of one family, and different."""
    for baseline in _block(values, "artifacts", "ablations"):
        path = ("artifacts", "ablations", baseline)
        others = _names(values, "artifacts", "ablations", baseline)
        unknown = [name for name in (baseline, *others) if name not in used]
        for name in unknown:
            yield Problem(path, _unknown(name, "`use.models`", used))
        for name in sorted({name for name in others if others.count(name) > 1}):
            yield Problem(path, f"found {shown(name)} twice, expected each name once")
        for name in dict.fromkeys(others):
            if baseline not in unknown and name not in unknown:
                yield from _ablation(values, baseline, name)


def _ablation(values: Mapping[str, Any], baseline: str, name: str) -> Iterator[Problem]:
    path, mine, theirs = (
        ("artifacts", "ablations", baseline),
        *(_block(values, "models", m) for m in (name, baseline)),
    )
    if mine.get("family") != theirs.get("family"):
        families = f"an {mine.get('family')}: expected an {theirs.get('family')}"
        text = f"found {shown(name)}, which is {families} as the baseline"
        yield Problem(path, text)
    apart = ("label", "seeds")
    if {**mine, **dict.fromkeys(apart)} == {**theirs, **dict.fromkeys(apart)}:
        yield Problem(path, f"found {shown(name)}, which does not differ from the baseline in any setting")


def _languages(values: Mapping[str, Any]) -> Iterator[Problem]:
    source, target = _block(values, "languages").get("source"), _block(values, "languages").get("target")
    if isinstance(source, str) and source == target:
        yield Problem(("languages", "target"), f"found {shown(target)} twice, expected two languages")
    used = [name for role in ("train", "dev", "test") for name in _names(values, "use", role)]
    raw = [name for name in used if _block(values, "corpora", name).get("tokenized") is not True]
    for side, language in (("source", source), ("target", target)):
        if raw and isinstance(language, str) and language not in LANGUAGES:
            text = _unknown(language, "Moses' tokenizer", LANGUAGES)
            yield Problem(("languages", side), f"{text}; of others give tokens (corpora.*.tokenized)")
    generated = any(_block(values, "corpora", name, "grammar") for name in used)
    if generated and (source, target) != ("en", "fr"):
        text = f"found {source}-{target}, expected en-fr: the grammar writes nothing else"
        yield Problem(("languages",), text)


def _cleaning(values: Mapping[str, Any]) -> Iterator[Problem]:
    cleaning = _block(values, "cleaning")
    least, most = cleaning.get("min_words"), cleaning.get("max_words")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield Problem(("cleaning", "min_words"), f"found {least}, expected at most the {most} of max_words")


def _moses(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Measured or given, not both; and text without what Moses takes for its own notation."""
    if _block(values, "moses").get("enabled") is not True:
        return
    if (given := _block(values, "artifacts").get("moses_translations")) is not None:
        text = f"found {shown(given)} beside `moses.enabled: true`, expected one of both"
        yield Problem(("artifacts", "moses_translations"), text)
    if _block(values, "tokenization").get("escape") is False:
        text = "found false, expected true where `moses.enabled` is: Moses takes | < [ for its own notation"
        yield Problem(("tokenization", "escape"), text)
