"""Verification of published results: whether they are as recorded, and follow from the replication package.

Checksums compare the files with `ro-crate-metadata.json`. Tables and test text are made again in this process, and the
settings are compared with those of each model's training and decoding. The package comes from somebody else, so it
decides nothing of what is read or run: only plain files in its folder are read, no links and no pipes; what papers
report, and entries of corpora and archives that this checkout has, are the checkout's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel

from nmt.data.preparation import prepare
from nmt.decoding import sidecar
from nmt.errors import UserError
from nmt.io.files import read_json, sha256
from nmt.io.system import code, packages, release_name
from nmt.io.text_files import read_lines
from nmt.settings.base import flatten
from nmt.settings.checks import shown
from nmt.settings.decoding import Decoding
from nmt.settings.text import Cleaning
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, SUMMARY, WEIGHTS
from pipeline.config import snapshot
from pipeline.config.checkout import REPOSITORY
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import run_settings, runs_of
from pipeline.config.schema import Config
from pipeline.config.systems import systems_in_use
from pipeline.download.extraction import Side, extract
from pipeline.grammar.corpus import write_corpus
from pipeline.results.build import texts
from pipeline.results.inputs import Inputs
from pipeline.results.package import MODES, ReplicationPackage, is_part
from pipeline.results.papers import read_paper
from pipeline.results.ro_crate import RECORD, REPORT

_TABLES = (".csv", ".md", ".tex", ".json")
PAPERS = REPOSITORY / "workflow" / "papers"
_LETTERS = 120
"""Letters of a line that a problem quotes."""
_SHOWN = 20
"""Number of differing settings that are listed."""
NOT_RECORDED = (RECORD, "README.md")
"""Files of a results folder that the record does not name."""


@dataclass
class Verdict:
    """The result of a verification.

    problems: one line each. notes: what is worth knowing but is no problem. checked: a line about what was checked.
    readable: the package, unless it has links or special files, which are not read.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: str = ""
    readable: Inputs | None = None

    @contextmanager
    def failing(self, what: str) -> Iterator[None]:
        """Turn every error inside into a problem: altered files may have any content."""
        try:
            yield
        except UserError as error:
            self.problems.append(f"{what}: {error}")
        except Exception as error:
            self.problems.append(f"{what}: {type(error).__name__}: {' '.join(str(error).split())}")


def verify(results: Path, scratch: Path, archives: Path | None = None) -> Verdict:
    """Check the checksums, the settings, the tables and the test text of a results folder.

    Args:
        results: the folder.
        scratch: an empty folder in which the test text is made again.
        archives: where downloaded archives lie, to compare the test text with; text that the project's grammar wrote
            needs none.

    Raises:
        UserError: there is no record, or it is none.
    """
    found = Verdict()
    files, others = _plain_files(results)
    sums = recorded_checksums(results, files)
    found.problems += altered(results, sums, files)
    made = Remade()
    in_package = {name for name in others if is_part(name) or is_part(f"{name}/")}
    for name in others:
        where = found.problems if name in in_package else found.notes
        where.append(f"{results / name}: a link or special file, expected plain files; it is not read")
    if not in_package:
        found.readable = Inputs(ReplicationPackage(results), PAPERS)
        with found.failing("nothing can be made again"):
            config = snapshot.read(ReplicationPackage(results).configuration)
            if line := other_than_ours(config, results):
                found.notes.append(line)
            with found.failing("the settings cannot be checked"):
                _check_settings(config, results, found)
            made = _remade(found.readable, files, scratch, archives, found)
    found.notes += [f"{results / name}: not in the record" for name in sorted(files - {*sums, *NOT_RECORDED})]
    with found.failing(f"{results / RECORD} does not say what made the tables"):
        found.notes += other_program(results / RECORD)
    record = f"{RECORD} (sha256 {sha256(results / RECORD)})"
    text = "; test text made again identically" if made.text else ""
    tables = f"; {len(made.tables)} files of tables made again identically" if made.tables else ""
    found.checked = f"OK: {len(sums)} files match {record}{tables}{text}"
    return found


def _plain_files(results: Path) -> tuple[set[str], list[str]]:
    """Return names of the plain files, and of what is neither file nor folder; links are not followed."""
    files, others = set(), []
    for folder, folders, names in os.walk(results):
        for path in (Path(folder) / name for name in sorted([*folders, *names])):
            kind, name = path.lstat().st_mode, path.relative_to(results).as_posix()
            if stat.S_ISREG(kind):
                files.add(name)
            elif not stat.S_ISDIR(kind):
                others.append(name)
    return files, others


def recorded_checksums(results: Path, files: set[str]) -> dict[str, str]:
    """Return the recorded SHA-256 of every file of the results, by its name."""
    record = results / RECORD
    if RECORD not in files:
        raise UserError(f"{record}: no such file; expected the record that a run makes last")
    entities = [entity for entity in _graph(record) if entity.get("@type") == "File" and "sha256" in entity]
    if not entities:
        raise UserError(f"{record}: names no file with a checksum; make it again")
    if not all(isinstance(entity.get(key), str) for entity in entities for key in ("@id", "sha256")):
        raise UserError(f"{record}: a file whose `@id` or `sha256` is no text; make it again")
    return {entity["@id"]: entity["sha256"] for entity in entities}


def _graph(record: Path) -> list[dict[str, Any]]:
    value = read_json(record)
    graph = value.get("@graph") if isinstance(value, dict) else None
    if not isinstance(graph, list) or not all(isinstance(entity, dict) for entity in graph):
        raise UserError(f"{record}: no RO-Crate: expected `@graph`, a list of objects; make it again")
    return graph


def altered(results: Path, sums: dict[str, str], files: set[str]) -> Iterator[str]:
    """Yield a line for each recorded name that no plain file has, or whose file has another checksum."""
    for name, expected in sums.items():
        if name not in files:
            yield f"{results}/{name}: missing, but in the record"
        elif (found := sha256(results / name)) != expected:
            yield f"{results / name}: altered: sha256 {found[:12]}..., the record says {expected[:12]}..."


def _check_settings(config: Config, results: Path, found: Verdict) -> None:
    """Hold the settings against those that models were trained and translations decoded with.

    Released models were made with settings of their own: differences are notes there.
    """
    package = ReplicationPackage(results)
    theirs = config.released.models
    for line in other_settings(config, package):
        (found.notes if theirs else found.problems).append(line)
    found.problems += other_decoding(config, package)
    for line in other_weights(config, results):
        (found.notes if theirs else found.problems).append(line)
    for system in systems_in_use(config):
        for file in _translations(package, system):
            with found.failing("translations"):
                sidecar.refuse_other(file)


@dataclass
class Remade:
    """What was made again: names of files of tables, whether those are all, and whether the test text is among it."""

    tables: list[str] = field(default_factory=list)
    complete: bool = True
    text: bool = False


def _remade(inputs: Inputs, files: set[str], scratch: Path, archives: Path | None, found: Verdict) -> Remade:
    """Make tables and test text again, and say what differs and what cannot be made."""
    config, package, results = inputs.config, inputs.package, inputs.package.folder
    made = _tables(inputs, files, found)
    with found.failing("the test text cannot be made again"):
        made.text = _test_text(config, package, files, scratch, archives, found)
    for name in config.artifacts.papers:
        found.problems += other_paper(package.paper(name), PAPERS / f"{name}.yaml")
    if not made.text:
        found.notes.append(
            "the test text is not made again: give --archives, where its archive was downloaded to"
        )
    rest = sorted(name for name in files - {*made.tables, *NOT_RECORDED} if not is_part(name))
    unmade = [name for name in rest if _is_table(name)] if made.complete else []
    for name in unmade:
        asks = f"{package.configuration} asks for no such table, so it is not made again"
        found.problems.append(f"{results / name}: does not follow: {asks}")
    if others := [name for name in rest if name not in unmade]:
        found.notes.append(f"known by checksum alone: {', '.join(others)}")
    return made


def _tables(inputs: Inputs, files: set[str], found: Verdict) -> Remade:
    """Compare each table with what follows: of its forms the first that differs is named, which is the CSV."""
    made, results = Remade(), inputs.package.folder
    for text in texts(inputs):
        contents: dict[str, str] = {}
        with found.failing(f"{text.files[0]} cannot be made again"):
            contents = text.make()
        made.tables += contents
        made.complete = made.complete and bool(contents)
        for file, content in contents.items():
            there = file in files
            if not there or (results / file).read_bytes() != content.encode():
                csv = text.files[0] if file != text.files[0] else ""
                found.problems.append(_differs(results / file, content, there, csv))
                break
    return made


def _differs(written: Path, text: str, there: bool, same: str) -> str:
    """Return a line about a table that is not what follows; `same` names a form of it that is."""
    if not there:
        return f"{written}: missing, but the settings ask for it"
    found = difference(written, read_lines(written), text.removesuffix("\n").split("\n"), "follows")
    line = found[0] if found else f"{written}: other line ends than what follows"
    return line + (f"; {same} is the same" if same else "")


def _test_text(
    config: Config,
    package: ReplicationPackage,
    files: set[str],
    folder: Path,
    archives: Path | None,
    found: Verdict,
) -> bool:
    """Make the test text again from its source and compare it. Return whether the source is at hand."""
    name = config.use.test[0]
    ours = load(find_layers(REPOSITORY))
    corpus = ours.corpora.get(name) or config.corpora[name]
    languages = (config.languages.source, config.languages.target)
    raw, words, tokens = (
        [folder / f"{kind}.{side}" for side in languages] for kind in ("raw", "words", "tokens")
    )
    gold, counts = folder / "gold", folder / "counts.json"
    if grammar := corpus.grammar:
        lines = sum(1 for _ in read_lines(package.test(languages[0])))
        if grammar.pairs != lines:  # perhaps without end
            says = f"{package.configuration}: corpora.{name}.grammar.pairs is {grammar.pairs:,}"
            has = f"{package.test(languages[0])} has {lines:,} lines"
            raise UserError(f"{says}, but {has}")
        write_corpus(config.grammar, grammar.split, grammar.pairs, raw[:1], raw[1:], [gold], counts)
    else:
        known = config.archives | ours.archives
        sides = []
        for member, output in zip(corpus.sides.values(), raw, strict=True):
            place = _below(archives, known[member.archive].path) if archives and member.archive else None
            if place is None:
                return False
            sides.append(Side(place, member.member, [output], member.md5))
        extract(sides[0], sides[1], counts, corpus.pairs)
    tokenization = None if corpus.tokenized else config.tokenization
    outputs = (tokens[0], tokens[1]), (words[0], words[1])
    prepare((raw[0], raw[1]), config.languages, Cleaning(), tokenization, {}, *outputs, counts)
    made = {package.test(language): file for language, file in zip(languages, tokens, strict=True)}
    made |= {package.raw_reference(languages[1]): raw[1]} | ({package.gold: gold} if corpus.grammar else {})
    for written, again in made.items():
        if written.relative_to(package.folder).as_posix() in files:
            found.problems += difference(
                written, read_lines(written), read_lines(again), "comes from its source"
            )
    return True


def _below(folder: Path, name: str) -> Path | None:
    """Return a file in a folder; None where it is not there or lies elsewhere."""
    path = folder / name
    return path if path.is_file() and ".." not in PurePosixPath(name).parts else None


def difference(path: Path, written: Iterable[str], made: Iterable[str], follows: str) -> list[str]:
    """Return a line about the first line that differs in two texts; none if they are equal."""
    lines = enumerate(zip_longest(written, made), start=1)
    pairs = [(number, *pair) for number, pair in lines if pair[0] != pair[1]]
    if not pairs:
        return []
    number, left, right = pairs[0]
    more = f" (and {len(pairs) - 1} more lines differ)" if len(pairs) > 1 else ""
    return [f"{path}, line {number}: {_quoted(left)} is written, {_quoted(right)} {follows}{more}"]


def _quoted(line: str | None) -> str:
    if line is None:
        return "nothing"
    return repr(line if len(line) <= _LETTERS else f"{line[:_LETTERS]}...")


def other_paper(published: Path, ours: Path) -> list[str]:
    """Return a line if a paper's file says something else than the checkout's; comments and layout may differ."""
    differing = difference(published, read_lines(published), read_lines(ours), f"stands in {ours}")
    return differing if differing and read_paper(published) != read_paper(ours) else []


def _is_table(name: str) -> bool:
    """Return whether a file of the results holds numbers that follow from the package: none on the text."""
    return name.endswith(_TABLES)


def other_than_ours(config: Config, results: Path) -> str | None:
    """Return how the settings differ from those of the experiment here of that name, else of the most similar one.

    A forger who asks for fewer tables, or for other test text, changes the settings.
    """
    theirs = flatten(snapshot.published(config))
    ours = {path.parent.name: path.parent for path in (REPOSITORY / "experiments").glob("*/config.yaml")}
    folder = results.resolve()
    named = [ours[name] for name in (folder.parent.name, folder.name) if name in ours]
    found = [
        (path, differing)
        for path in (named or ours.values())
        if (differing := _differing(path, theirs)) is not None
    ]
    if not found:
        return None
    path, keys = min(found, key=lambda one: len(one[1]))
    place = path.relative_to(REPOSITORY).as_posix()
    listed = "; ".join(keys[:_SHOWN]) + (f"; and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else "")
    return f"settings other than those of {place} here: {listed}" if keys else None


def _differing(experiment: Path, theirs: dict[str, Any]) -> list[str] | None:
    """Return a description of each differing key; None where the experiment's own settings cannot be read."""
    try:
        own = flatten(snapshot.published(load(find_layers(experiment))))
    except UserError:
        return None
    keys = sorted(key for key in own.keys() | theirs.keys() if own.get(key) != theirs.get(key))
    return [f"{key} is {shown(theirs.get(key))}, here {shown(own.get(key))}" for key in keys]


def other_program(record: Path) -> Iterator[str]:
    """Yield a line for the code and for each package whose version here is not the one that made the tables."""
    entities = {entity.get("@id"): entity for entity in _graph(record)}
    program = entities[entities[REPORT]["instrument"]["@id"]]
    if (there := program["softwareVersion"]) != (ours := release_name(code())):
        yield f"the tables were made with nmt {there}, here is nmt {ours}: numbers may differ for that"
    here = packages()
    for reference in program.get("softwareRequirements", []):
        package = entities[reference["@id"]]
        name, version = package["name"], package["softwareVersion"]
        if here.get(name, version) != version:
            yield f"the tables were made with {name} {version}, here is {here[name]}: numbers may differ for that"


def other_settings(config: Config, package: ReplicationPackage) -> Iterator[str]:
    """Yield a line for each setting in which a run's own settings differ from the configuration."""
    for run in runs_of(config, config.use.models).values():
        path = package.of_run(run.name, SETTINGS)
        written = flatten(run_settings(config, run).outcome())
        trained = flatten(ModelRun.model_validate(read_json(path)).outcome())
        for key in sorted(written.keys() | trained.keys()):
            if written.get(key) != trained.get(key):
                says = f"{key} of {run.name} is {written.get(key)!r}"
                yield f"{package.configuration}: {says}, but {path} says {trained.get(key)!r}"


def other_decoding(config: Config, package: ReplicationPackage) -> Iterator[str]:
    """Yield a line for each setting of the search that is not the one with which translations were made."""
    seen: set[str] = set()
    for system in systems_in_use(config).values():
        block = "decoding" if system.seed is not None else f"systems.{system.name}.decoding"
        expected = _flat(system.decoding)
        for file in _translations(package, system.name):
            settings = _flat(Decoding.model_validate(sidecar.read(file)["settings"]))
            for key, value in expected.items():
                says = f"{block}.{key} is {value!r}"
                if settings.get(key) != value and says not in seen:
                    seen.add(says)
                    path = sidecar.record_path(file)
                    yield f"{package.configuration}: {says}, but {path} says {settings.get(key)!r}"


def other_weights(config: Config, results: Path) -> Iterator[str]:
    """Yield a line for each run with other weights than its summary, or the record of its translations, names.

    The weights are looked at where the models' folder lies beside that of the results.
    """
    package = ReplicationPackage(results)
    for run in runs_of(config, config.use.models):
        making = sidecar.record_path(package.translations(run, MODES[0]))
        (used,) = (model["sha256"] for model in sidecar.read(package.translations(run, MODES[0]))["models"])
        trained = read_json(package.of_run(run, SUMMARY)).get("weights", used)
        if trained != used:
            yield f"{making}: made with other weights than {package.of_run(run, SUMMARY)} names"
        weights = results.resolve().parent / "models" / run / WEIGHTS
        if weights.is_file() and not weights.is_symlink() and sha256(weights) != used:
            yield f"{weights}: altered: other weights than those that {making} names"


def _translations(package: ReplicationPackage, run: str) -> list[Path]:
    """Return a run's translations; those of the test set are never missing."""
    sets = list(dict.fromkeys(["test", *package.sets(run)]))
    return [package.translations(run, mode, set_) for set_ in sets for mode in MODES]


def _flat(settings: BaseModel) -> dict[str, Any]:
    return flatten(settings.model_dump(mode="json"))
