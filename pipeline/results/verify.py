"""Verification of published results: whether they are as recorded, and follow from the replication package.

Checksums compare the files with `ro-crate-metadata.json`. Tables and test text are made again in this process, and the
settings, texts and vocabularies are compared with those of each model's training and decoding. The package comes from
somebody else, so it decides nothing of what is read or run: only plain files in its folder are read, no links and no
pipes; what papers report, and entries of corpora and archives that this checkout has, are the checkout's.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, Field

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.io.files import sha256
from nmt.io.system import describe_code, format_version, package_versions
from nmt.io.text_files import read_lines
from nmt.settings.base import flatten, format_value, read_settings
from pipeline.config import snapshot
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.config.text import Cleaning
from pipeline.download.extraction import Side, extract_corpus
from pipeline.grammar.corpus import write_corpus
from pipeline.preparation import prepare_shard
from pipeline.results.build import list_text_files
from pipeline.results.evidence import UNPROVEN, find_inconsistent_runs
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import TABLES_MADE
from pipeline.results.package import ReplicationPackage, belongs_to_package
from pipeline.results.papers import PAPERS_FOLDER, read_paper
from pipeline.results.provenance import contradictions
from pipeline.results.ro_crate import RECORD, REPORT

_TABLES = (".csv", ".md", ".tex", ".json")
_LETTERS = 120
"""Letters of a line that a problem quotes."""
_SHOWN = 20
"""Number of differing settings that are listed."""
NO_TABLES = (RECORD, TABLES_MADE, "README.md")
"""Files of a results folder that do not follow from the package."""
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


def verify_results(results: Path, scratch: Path, archives: Path | None = None) -> Verdict:
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
    crate = read_crate(results / RECORD)
    sums = {name: entity.sha256 for name, entity in crate.items() if entity.kind == "File" and entity.sha256}
    if not sums:
        raise UserError(f"{results / RECORD}: names no file with a checksum; make it again")
    found.problems += find_altered_files(results, sums, files)
    in_package = {name for name in others if belongs_to_package(name) or belongs_to_package(f"{name}/")}
    for name in others:
        where = found.problems if name in in_package else found.notes
        where.append(f"{results / name}: a link or special file, expected plain files; it is not read")
    checked = ""
    if not in_package:
        found.readable = Inputs(ReplicationPackage(results), PAPERS_FOLDER)
        with found.failing("nothing can be made again"):
            checked = _follow(found.readable, files, scratch, archives, found)
        with found.failing("the trainings' records cannot be compared"):
            found.problems += find_inconsistent_runs(found.readable)
    found.notes += [f"{results / name}: not in the record" for name in sorted(files - {*sums, *NOT_RECORDED})]
    with found.failing(f"{results / RECORD} does not say what made the tables"):
        found.notes += other_program(crate)
    found.checked = f"OK: {len(sums)} files match {RECORD} (sha256 {sha256(results / RECORD)}){checked}"
    found.checked += f"; taken on trust: {UNPROVEN}"
    return found


def _follow(inputs: Inputs, files: set[str], scratch: Path, archives: Path | None, found: Verdict) -> str:
    """Check that settings, tables and test text follow from the package and this checkout; say what was made again."""
    config, package, results = inputs.config, inputs.package, inputs.package.folder
    found.notes += compare_with_experiments(config, results)
    with found.failing("trainings and translations cannot be checked"):
        found.problems += contradictions(inputs)
    tables = _tables(inputs, files, found)
    made_sets = [
        set_name for set_name in inputs.sets if _made_again(set_name, inputs, files, scratch, archives, found)
    ]
    for name in config.artifacts.papers:
        found.problems += other_paper(package.paper(name), PAPERS_FOLDER / f"{name}.yaml")
    rest = sorted(name for name in files - {*tables, *NO_TABLES} if not belongs_to_package(name))
    asks = f"{package.configuration} asks for no such table, so it is not made again"
    found.problems += [
        f"{results / name}: does not follow: {asks}" for name in rest if name.endswith(_TABLES)
    ]
    if others := [name for name in rest if not name.endswith(_TABLES)]:
        found.notes.append(f"known by checksum alone: {', '.join(others)}")
    text = f"; {' and '.join(made_sets)} text made again identically" if made_sets else ""
    return f"; {len(tables)} files of tables made again identically{text}"


def _made_again(
    set_name: str, inputs: Inputs, files: set[str], scratch: Path, archives: Path | None, found: Verdict
) -> bool:
    """Make the text of a set again from its source and compare it. Return whether the source is at hand."""
    folder = scratch / set_name
    folder.mkdir(parents=True)
    with found.failing(f"the {set_name} text cannot be made again"):
        if _compare_text(set_name, inputs, files, folder, archives, found):
            return True
        found.notes.append(
            f"the {set_name} text is not made again: give --archives, where its archive was downloaded to"
        )
    return False


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


def read_crate(record: Path) -> dict[str, _Entity]:
    """Return what the record says, by the ids of its entities."""
    if not record.is_file() or record.is_symlink():
        raise UserError(f"{record}: no such file; expected the record that a run makes last")
    return {entity.id: entity for entity in read_settings(_Crate, record, "make it again").graph}


def find_altered_files(results: Path, sums: dict[str, str], files: set[str]) -> Iterator[str]:
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
    for text in list_text_files(inputs):
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


def _compare_text(
    set_name: str, inputs: Inputs, files: set[str], folder: Path, archives: Path | None, found: Verdict
) -> bool:
    """Make the text of a set again and compare it with the package's. Return whether it could be made."""
    config, package = inputs.config, inputs.package
    languages = (config.languages.source, config.languages.target)
    corpora = config.use.test[:1] if set_name == "test" else config.use.dev
    lines = sum(1 for _ in read_lines(package.text(set_name, languages[0])))
    made = [_make_text(config, corpus, lines, folder / corpus, archives) for corpus in corpora]
    if not all(made):
        return False
    pairs = {
        package.text(set_name, language): [text / f"tokens.{language}" for text in made if text]
        for language in languages
    }
    if set_name == "test":
        pairs[package.raw_reference(languages[1])] = [folder / corpora[0] / f"raw.{languages[1]}"]
        pairs[package.gold] = [folder / corpora[0] / "gold"]
    for written, again in pairs.items():
        if written.relative_to(package.folder).as_posix() in files and again[0].is_file():
            made_lines = chain.from_iterable(map(read_lines, again))
            found.problems += difference(written, read_lines(written), made_lines, "comes from its source")
    return True


def _make_text(config: Config, name: str, lines: int, folder: Path, archives: Path | None) -> Path | None:
    """Make raw text, tokens and known alignments of a corpus in a folder; None if its archive is not at hand."""
    ours = load_config(find_layers(REPOSITORY))
    corpus = ours.corpora.get(name) or config.corpora[name]
    languages = (config.languages.source, config.languages.target)
    folder.mkdir()
    raw, words, tokens = (
        [folder / f"{kind}.{side}" for side in languages] for kind in ("raw", "words", "tokens")
    )
    counts = folder / "counts.json"
    if grammar := corpus.grammar:
        if grammar.pairs > lines:  # perhaps without end
            raise UserError(
                f"corpora.{name}.grammar.pairs is {grammar.pairs:,}, but the text has {lines:,} lines"
            )
        write_corpus(
            config.grammar, grammar.split, grammar.pairs, raw[:1], raw[1:], [folder / "gold"], counts
        )
    else:
        known = config.archives | ours.archives
        sides = []
        for member, output in zip(corpus.sides.values(), raw, strict=True):
            path = PurePosixPath(known[member.archive].path if member.archive else "..")
            if archives is None or ".." in path.parts or not (place := archives / path).is_file():
                return None
            sides.append(Side(place, member.member, [output], member.md5))
        extract_corpus(dict(zip(("source", "target"), sides, strict=True)), counts, corpus.pairs)
    tokenization = None if corpus.tokenized else config.tokenization
    outputs = (tokens[0], tokens[1]), (words[0], words[1])
    prepare_shard((raw[0], raw[1]), config.languages, Cleaning(), tokenization, *outputs, counts)
    return folder


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


def compare_with_experiments(config: Config, results: Path) -> list[str]:
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
    theirs, found = flatten(snapshot.get_published_settings(config)), []
    for extra in (), ("moses.yaml",):
        # paths are spelled as in a run, whose working directory is the experiment's folder
        with suppress(UserError), chdir(experiment):
            ours = load_config(find_layers(Path(), map(Path, extra)))
            own = flatten(snapshot.get_published_settings(ours))
            unshared = tuple(f"models.{model}." for model in {*config.use.models} ^ {*ours.use.models})
            keys = (key for key in sorted(own.keys() | theirs.keys()) if not key.startswith(unshared))
            differing = (key for key in keys if own.get(key) != theirs.get(key))
            found.append(
                [
                    f"{key} is {format_value(theirs.get(key))}, here {format_value(own.get(key))}"
                    for key in differing
                ]
            )
    return found


def other_program(crate: Mapping[str, _Entity]) -> Iterator[str]:
    """Yield a line for the code and for each package whose version here is not the one that made the tables."""
    program = crate[crate[REPORT]["instrument"]["@id"]]
    if (there := program["softwareVersion"]) != (ours := format_version(describe_code())):
        yield f"the tables were made with nmt {there}, here is nmt {ours}: numbers may differ for that"
    here = package_versions()
    for package in (crate[reference["@id"]] for reference in program["softwareRequirements"]):
        name, version = package["name"], package["softwareVersion"]
        if here.get(name, version) != version:
            yield f"the tables were made with {name} {version}, here is {here[name]}: numbers may differ for that"
