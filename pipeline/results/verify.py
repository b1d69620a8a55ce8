"""Verification of published results: whether they are as recorded, and follow from the replication package.

Checksums compare the files with `ro-crate-metadata.json`. Tables and test text are made again in this process, and the
settings are compared with those of each model's training and decoding. The package comes from somebody else, so it
decides nothing of what is read or run: only plain files in its folder are read, no links and no pipes; what papers
report, and entries of corpora and archives that this checkout has, are the checkout's.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, Field

from nmt.errors import UserError
from nmt.evaluation.translations import read_provenance, record_path
from nmt.io.files import read_json, sha256
from nmt.io.system import code, packages, release_name
from nmt.io.text_files import read_lines
from nmt.settings.base import differences, flatten, read, shown
from nmt.settings.decoding import Decoding
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, SUMMARY, WEIGHTS, weights_checksums
from pipeline.config import snapshot
from pipeline.config.checkout import REPOSITORY
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import run_settings, runs_of, systems_in_use
from pipeline.config.schema import Config
from pipeline.config.text import Cleaning
from pipeline.download.extraction import Side, extract
from pipeline.grammar.corpus import write_corpus
from pipeline.preparation import prepare
from pipeline.results.build import texts
from pipeline.results.evidence import UNPROVEN, inconsistent_runs
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
    crate = recorded(results / RECORD)
    sums = {name: entity.sha256 for name, entity in crate.items() if entity.kind == "File" and entity.sha256}
    if not sums:
        raise UserError(f"{results / RECORD}: names no file with a checksum; make it again")
    found.problems += altered(results, sums, files)
    in_package = {name for name in others if is_part(name) or is_part(f"{name}/")}
    for name in others:
        where = found.problems if name in in_package else found.notes
        where.append(f"{results / name}: a link or special file, expected plain files; it is not read")
    checked = ""
    if not in_package:
        found.readable = Inputs(ReplicationPackage(results), PAPERS)
        with found.failing("nothing can be made again"):
            checked = _follow(found.readable, files, scratch, archives, found)
        with found.failing("the trainings' records cannot be compared"):
            found.problems += inconsistent_runs(found.readable)
    found.notes += [f"{results / name}: not in the record" for name in sorted(files - {*sums, *NOT_RECORDED})]
    with found.failing(f"{results / RECORD} does not say what made the tables"):
        found.notes += other_program(crate)
    found.checked = f"OK: {len(sums)} files match {RECORD} (sha256 {sha256(results / RECORD)}){checked}"
    found.checked += f"; taken on trust: {UNPROVEN}"
    return found


def _follow(inputs: Inputs, files: set[str], scratch: Path, archives: Path | None, found: Verdict) -> str:
    """Check that settings, tables and test text follow from the package and this checkout; say what was made again."""
    config, package, results = inputs.config, inputs.package, inputs.package.folder
    found.notes += other_than_ours(config, results)
    with found.failing("the settings cannot be checked"):
        # released models were made with settings of their own
        of_models = found.notes if config.released.models else found.problems
        of_models += other_settings(config, package)
        found.problems += other_decoding(config, package)
        of_models += other_weights(config, package)
    tables = _tables(inputs, files, found)
    made_text = False
    with found.failing("the test text cannot be made again"):
        made_text = _test_text(config, package, files, scratch, archives, found)
    if not made_text:
        found.notes.append(
            "the test text is not made again: give --archives, where its archive was downloaded to"
        )
    for name in config.artifacts.papers:
        found.problems += other_paper(package.paper(name), PAPERS / f"{name}.yaml")
    rest = sorted(name for name in files - {*tables, *NOT_RECORDED} if not is_part(name))
    asks = f"{package.configuration} asks for no such table, so it is not made again"
    found.problems += [
        f"{results / name}: does not follow: {asks}" for name in rest if name.endswith(_TABLES)
    ]
    if others := [name for name in rest if not name.endswith(_TABLES)]:
        found.notes.append(f"known by checksum alone: {', '.join(others)}")
    text = "; test text made again identically" if made_text else ""
    return f"; {len(tables)} files of tables made again identically{text}"


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


class _Entity(BaseModel, extra="allow"):
    """What the record says of a file, a program or anything else; it has keys besides."""

    id: str = Field(alias="@id")
    kind: str | list[str] = Field(alias="@type")
    sha256: str | None = None

    def __getitem__(self, key: str) -> Any:
        """Return what stands under a key that is not checked."""
        return (self.model_extra or {})[key]


class _Crate(BaseModel, extra="allow"):
    graph: list[_Entity] = Field(alias="@graph")


def recorded(record: Path) -> dict[str, _Entity]:
    """Return what the record says, by the ids of its entities."""
    if not record.is_file() or record.is_symlink():
        raise UserError(f"{record}: no such file; expected the record that a run makes last")
    return {entity.id: entity for entity in read(_Crate, record, "make it again").graph}


def altered(results: Path, sums: dict[str, str], files: set[str]) -> Iterator[str]:
    """Yield a line for each recorded name that no plain file has, or whose file has another checksum.

    Files of which git has changed the line ends to those of Windows are one line.
    """
    of_windows = []
    for name, expected in sums.items():
        if name not in files:
            yield f"{results}/{name}: missing, but in the record"
        elif (found := sha256(results / name)) != expected:
            with_line_feeds = (results / name).read_bytes().replace(b"\r\n", b"\n")
            if hashlib.sha256(with_line_feeds).hexdigest() == expected:
                of_windows.append(name)
            else:
                yield f"{results / name}: altered: sha256 {found[:12]}..., the record says {expected[:12]}..."
    if of_windows:
        why = "git's core.autocrlf does this; clone again, of a version with .gitattributes, or set it to false first"
        yield f"{results}: {len(of_windows):,} files have Windows' line ends, such as {of_windows[0]}: {why}"


def _tables(inputs: Inputs, files: set[str], found: Verdict) -> list[str]:
    """Compare each table with what follows, and name its first form that differs, the CSV; return all their files."""
    names: list[str] = []
    for text in texts(inputs):
        names += text.files
        with found.failing(f"{text.files[0]} cannot be made again"):
            for name, content in text.make().items():
                file = inputs.package.folder / name
                if name not in files:
                    found.problems.append(f"{file}: missing, but the settings ask for it")
                elif file.read_bytes() != content.encode():
                    other = difference(
                        file, read_lines(file), content.removesuffix("\n").split("\n"), "follows"
                    )
                    found.problems += other or [f"{file}: other line ends than what follows"]
                else:
                    continue
                break
    return names


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
        lines = sum(1 for _ in read_lines(package.text(languages[0])))
        if grammar.pairs != lines:  # perhaps without end
            says = f"{package.configuration}: corpora.{name}.grammar.pairs is {grammar.pairs:,}"
            has = f"{package.text(languages[0])} has {lines:,} lines"
            raise UserError(f"{says}, but {has}")
        write_corpus(config.grammar, grammar.split, grammar.pairs, raw[:1], raw[1:], [gold], counts)
    else:
        known = config.archives | ours.archives
        sides = []
        for member, output in zip(corpus.sides.values(), raw, strict=True):
            path = PurePosixPath(known[member.archive].path if member.archive else "..")
            if archives is None or ".." in path.parts or not (place := archives / path).is_file():
                return False
            sides.append(Side(place, member.member, [output], member.md5))
        extract(sides[0], sides[1], counts, corpus.pairs)
    tokenization = None if corpus.tokenized else config.tokenization
    outputs = (tokens[0], tokens[1]), (words[0], words[1])
    prepare((raw[0], raw[1]), config.languages, Cleaning(), tokenization, {}, *outputs, counts)
    made = {package.text(language): file for language, file in zip(languages, tokens, strict=True)}
    made |= {package.raw_reference(languages[1]): raw[1]} | ({package.gold: gold} if corpus.grammar else {})
    for written, again in made.items():
        if written.relative_to(package.folder).as_posix() in files:
            found.problems += difference(
                written, read_lines(written), read_lines(again), "comes from its source"
            )
    return True


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
    if read_paper(published) == read_paper(ours):
        return []
    return difference(published, read_lines(published), read_lines(ours), f"stands in {ours}")


def other_than_ours(config: Config, results: Path) -> list[str]:
    """Return a line if the settings differ from those of the experiment here of that name, else of the one most alike.

    A forger who asks for fewer tables, or for other test text, changes the settings. An experiment with Moses also has
    those of its `moses.yaml`.
    """
    folder = results.resolve()
    experiments = {
        path.parent.name: path.parent for path in (REPOSITORY / "experiments").glob("*/config.yaml")
    }
    named = [experiments[name] for name in (folder.parent.name, folder.name) if name in experiments]
    places = named or experiments.values()
    found = [(len(says), place.name, says) for place in places for says in _others(config, place)]
    _, name, says = min(found, default=(0, "", []))
    if not says:
        return []
    more = f"; and {len(says) - _SHOWN} more" if len(says) > _SHOWN else ""
    return [f"settings other than those of experiments/{name} here: {'; '.join(says[:_SHOWN])}{more}"]


def _others(config: Config, experiment: Path) -> list[list[str]]:
    """Return what differs from an experiment here, and from the same with Moses; of models only those that both use."""
    theirs, found = flatten(snapshot.published(config)), []
    for extra in (), ("moses.yaml",):
        # paths are spelled as in a run, whose working directory is the experiment's folder
        with suppress(UserError), chdir(experiment):
            ours = load(find_layers(Path(), map(Path, extra)))
            own = flatten(snapshot.published(ours))
            unshared = tuple(f"models.{model}." for model in {*config.use.models} ^ {*ours.use.models})
            keys = (key for key in sorted(own.keys() | theirs.keys()) if not key.startswith(unshared))
            differing = (key for key in keys if own.get(key) != theirs.get(key))
            found.append(
                [f"{key} is {shown(theirs.get(key))}, here {shown(own.get(key))}" for key in differing]
            )
    return found


def other_program(crate: Mapping[str, _Entity]) -> Iterator[str]:
    """Yield a line for the code and for each package whose version here is not the one that made the tables."""
    program = crate[crate[REPORT]["instrument"]["@id"]]
    if (there := program["softwareVersion"]) != (ours := release_name(code())):
        yield f"the tables were made with nmt {there}, here is nmt {ours}: numbers may differ for that"
    here = packages()
    for package in (crate[reference["@id"]] for reference in program["softwareRequirements"]):
        name, version = package["name"], package["softwareVersion"]
        if here.get(name, version) != version:
            yield f"the tables were made with {name} {version}, here is {here[name]}: numbers may differ for that"


def other_settings(config: Config, package: ReplicationPackage) -> Iterator[str]:
    """Yield a line for each run whose own settings differ from the configuration."""
    for run in runs_of(config, config.use.models).values():
        path = package.of_run(run.name, SETTINGS)
        trained = ModelRun.model_validate(read_json(path)).outcome()
        if found := differences(flatten(trained), flatten(run_settings(config, run).outcome())):
            yield f"{package.configuration}: other settings of {run.name} than {path} says: {found}"


def other_decoding(config: Config, package: ReplicationPackage) -> Iterator[str]:
    """Yield a line for each system whose translations were not made with its settings of the search."""
    for system in systems_in_use(config).values():
        wanted = system.decoding.model_dump(mode="json")
        sets = dict.fromkeys(["test", *package.sets(system.name)])  # that of the test set is never missing
        for file in (package.translations(system.name, mode, set_) for set_ in sets for mode in MODES):
            made = Decoding.model_validate(read_provenance(file)["settings"]).model_dump(mode="json")
            if found := differences(made, wanted):
                record = record_path(file)
                yield f"{package.configuration}: other decoding of {system.name} than {record} says: {found}"
                break


def other_weights(config: Config, package: ReplicationPackage) -> Iterator[str]:
    """Yield a line for each run with other weights than its summary, or the record of its translations, names.

    The weights are looked at where the models' folder lies beside that of the results.
    """
    for run in runs_of(config, config.use.models):
        translations = package.translations(run, MODES[0])
        (used,) = (model["sha256"] for model in read_provenance(translations)["models"])
        made, summary = record_path(translations), package.of_run(run, SUMMARY)
        if read_json(summary).get("weights", used) != used:
            yield f"{made}: made with other weights than {summary} names"
        weights = package.folder.resolve().parent / "models" / run / WEIGHTS
        if weights.is_file() and not weights.is_symlink() and used not in weights_checksums(weights.parent):
            yield f"{weights}: altered: other weights than those that {made} names"
