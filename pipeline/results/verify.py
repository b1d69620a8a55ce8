"""Verification of published results: whether they match their record, and follow from the replication package.

Checksums compare the files with `ro-crate-metadata.json`. Tables and test text are made again in this process, and the
settings, texts and vocabularies are compared with those of each model's training and decoding. The package comes from
somebody else, so it decides nothing of what is read or run: only plain files in its folder are read, no links and no
pipes; what papers report, and entries of corpora and archives that this checkout has, are the checkout's.
"""

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from nmt.environment import REPOSITORY
from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import read_json, sha256
from nmt.io.system import describe_code, format_version, package_versions
from nmt.io.text_files import read_lines
from nmt.settings.base import flatten, format_value
from pipeline.config.job_settings import get_preparation_settings
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.config.snapshot import get_published_settings
from pipeline.download.extraction import Side, extract_corpus
from pipeline.grammar.corpus import write_corpus
from pipeline.preparation import prepare_shard
from pipeline.results.evidence import UNPROVEN, find_inconsistent_runs
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.package import ReplicationPackage, belongs_to_package
from pipeline.results.papers import PAPERS_FOLDER, read_paper
from pipeline.results.provenance import find_contradictions
from pipeline.results.ro_crate import RECORD, REPORT
from pipeline.results.tables_and_figures import list_text_files

_TABLE_EXTENSIONS = (".csv", ".md", ".tex", ".json")
_MAX_QUOTED_CHARACTERS = 120
"""Length of a line that a problem quotes."""
NOT_REMADE = (RECORD, TABLES_PROVENANCE, "README.md")
"""Files of a results folder that do not follow from the package."""
NOT_RECORDED = (RECORD, "README.md")
"""Files of a results folder that the record does not name."""


@dataclass
class Verdict:
    """The result of a verification.

    problems: one line each. notes: lines about facts that are no problems. conclusion: a line about what was checked.
    inputs: the package, unless it has links or special files, which are not read.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conclusion: str = ""
    inputs: Inputs | None = None

    @contextmanager
    def errors_as_problem(self, problem: str) -> Iterator[None]:
        """Turn every error inside into a problem: altered files may have any content."""
        try:
            yield
        except Exception as error:
            kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
            self.problems.append(" ".join(f"{problem}: {kind}{error}".split()))


def verify_results(results: Path, scratch: Path, archives: Path | None = None) -> Verdict:
    """Check the checksums, the settings, the tables and the test text of a results folder.

    Args:
        results: the folder.
        scratch: an empty folder in which the test text is made again.
        archives: the folder of the downloaded archives, from which the test text is made again; None: only text
            that the project's grammar generates is made again.

    Raises:
        UserError: the folder has no readable record.
    """
    # 1. files as they were recorded
    verdict = Verdict()
    files, special_files = _list_files(results)
    crate = read_crate(results / RECORD)
    checksums = {}
    for name, entity in crate.items():
        if entity["@type"] == "File" and entity.get("sha256"):
            checksums[name] = entity["sha256"]
    if not checksums:
        raise UserError(f"{results / RECORD}: names no file with a checksum; make it again")
    verdict.problems += find_altered_files(results, checksums, files)
    verdict.conclusion = f"OK: {len(checksums)} files match {RECORD} (sha256 {sha256(results / RECORD)})"

    # 2. what follows from the package, if all of its files may be read
    for name in special_files:
        verdict.problems.append(
            f"{results / name}: a link or special file; remove it: only plain files are read"
        )
    if not special_files:
        verdict.inputs = Inputs(ReplicationPackage(results))
        reproduction = _Reproduction(
            verdict.inputs, files, scratch=scratch, archives=archives, verdict=verdict
        )
        with verdict.errors_as_problem("nothing can be made again"):
            verdict.conclusion += reproduction.check_package()
        with verdict.errors_as_problem("the trainings' records cannot be compared"):
            verdict.problems += find_inconsistent_runs(verdict.inputs)

    # 3. notes: files without a checksum, and other versions of code and packages
    for name in sorted(files.difference(checksums, NOT_RECORDED)):
        verdict.notes.append(f"{results / name}: not in the record")
    with verdict.errors_as_problem(f"{results / RECORD} does not say what made the tables"):
        verdict.notes += compare_program(crate)
    verdict.conclusion += f"; taken on trust: {UNPROVEN}"
    return verdict


# --- files and their record -------------------------------------------------------------------------------------------


def _list_files(results: Path) -> tuple[set[str], list[str]]:
    """Return the names of the plain files, and of links and special files; links are not followed."""
    files, special_files = set(), []
    for path in sorted(results.rglob("*")):
        mode, name = path.lstat().st_mode, path.relative_to(results).as_posix()
        if stat.S_ISREG(mode):
            files.add(name)
        elif not stat.S_ISDIR(mode):
            special_files.append(name)
    return files, special_files


Entity = dict[str, Any]
"""The record's values of a file, a program or anything else."""


def read_crate(record: Path) -> dict[str, Entity]:
    """Return the entities of the record by their ids."""
    if not record.is_file() or record.is_symlink():
        raise UserError(f"{record}: no such file; expected the record that a run makes last")
    with errors_as_user_error(record, KeyError, TypeError):
        return {entity["@id"]: {"@type": None, **entity} for entity in read_json(record)["@graph"]}


def find_altered_files(results: Path, checksums: dict[str, Any], files: set[str]) -> Iterator[str]:
    """Yield a line for each recorded name that no plain file has, or whose file has another checksum."""
    for name, expected_checksum in checksums.items():
        if name not in files:
            yield f"{results}/{name}: missing, but in the record"
            continue
        checksum = sha256(results / name)
        if checksum != expected_checksum:
            difference = f"sha256 {checksum[:12]}..., the record says {expected_checksum!s:.12}..."
            yield f"{results / name}: altered: {difference}"


def compare_program(crate: Mapping[str, Entity]) -> Iterator[str]:
    """Yield a line for the code and for each package whose installed version is not the one that made the tables."""
    program = crate[crate[REPORT]["instrument"]["@id"]]
    packages = [crate[reference["@id"]] for reference in program["softwareRequirements"]]
    versions = {"nmt": format_version(describe_code()), **package_versions()}
    for entity in [program, *packages]:
        name, recorded_version = entity["name"], entity["softwareVersion"]
        version = versions.get(name, recorded_version)  # a package that is not installed is not compared
        if version != recorded_version:
            comparison = f"made with {name} {recorded_version}, here is {name} {version}"
            yield f"the tables were {comparison}: numbers may differ for that"


# --- what follows from the package ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reproduction:
    """Makes the tables and the text of a package again, and reports differences to the verdict.

    files: names of the plain files of the results. scratch, archives: as for `verify_results`.
    """

    inputs: Inputs
    files: set[str]
    scratch: Path
    archives: Path | None
    verdict: Verdict

    def check_package(self) -> str:
        """Check settings, tables and text of the package. Return the end of the conclusion: what was made again."""
        config, package, verdict = self.inputs.config, self.inputs.package, self.verdict
        verdict.notes += compare_with_experiments(config, package.folder)
        with verdict.errors_as_problem("trainings and translations cannot be checked"):
            verdict.problems += find_contradictions(self.inputs)

        table_files = self._compare_tables()
        remade_sets = [set_name for set_name in self.inputs.sets if self._compare_set(set_name)]
        for name in config.artifacts.papers:
            verdict.problems += check_paper(package.paper(name), PAPERS_FOLDER / f"{name}.yaml")

        # files that are neither tables nor part of the package
        unproven_files = []
        for name in sorted(self.files.difference(table_files, NOT_REMADE)):
            if belongs_to_package(name):
                continue
            if name.endswith(_TABLE_EXTENSIONS):
                reason = f"{package.configuration} asks for no such table, so it is not made again"
                verdict.problems.append(f"{package.folder / name}: does not follow: {reason}")
            else:
                unproven_files.append(name)
        if unproven_files:
            verdict.notes.append(f"known by checksum alone: {', '.join(unproven_files)}")

        text = f"; {' and '.join(remade_sets)} text made again identically" if remade_sets else ""
        return f"; {len(table_files)} files of tables made again identically{text}"

    def _compare_tables(self) -> list[str]:
        """Make each table again, and report its first file that differs. Return the names of all files."""
        makers = list_text_files(self.inputs)
        problems = self.verdict.problems
        differing_tables = set()
        for name, make_content in makers.items():
            table = PurePosixPath(name).stem
            if table in differing_tables:
                continue  # if the CSV of a table differs, so do its other forms
            problem_count = len(problems)
            with self.verdict.errors_as_problem(f"{name} cannot be made again"):
                problems += self._compare_file(name, make_content())
            if len(problems) > problem_count:
                differing_tables.add(table)
        return list(makers)

    def _compare_file(self, name: str, content: str) -> list[str]:
        """Return a line if a published file is missing, or differs from `content`, which was made again."""
        file = self.inputs.package.folder / name
        if name not in self.files:
            return [f"{file}: missing, but the settings ask for it"]
        if file.read_bytes() == content.encode():
            return []
        lines = content.removesuffix("\n").split("\n")
        problems = describe_difference(file, read_lines(file), remade_lines=lines, origin="follows")
        return problems or [f"{file}: other line ends than in the file that is made again"]

    def _compare_set(self, set_name: str) -> bool:
        """Make the text of a set again, and report differences to the package. Return whether it could be made."""
        is_remade = False
        with self.verdict.errors_as_problem(f"the {set_name} text cannot be made again"):
            config, package = self.inputs.config, self.inputs.package
            corpora = config.use.test[:1] if set_name == "test" else config.use.dev
            line_count = sum(1 for _ in read_lines(package.text(set_name, config.languages.source)))
            folders = [self.scratch / set_name / corpus for corpus in corpora]
            are_remade = [self._remake_corpus(folder, line_count) for folder in folders]
            if all(are_remade):
                self._compare_text(set_name, folders)
                is_remade = True
            else:
                advice = "give --archives, where its archive was downloaded to"
                self.verdict.notes.append(f"the {set_name} text is not made again: {advice}")
        return is_remade

    def _compare_text(self, set_name: str, folders: Sequence[Path]) -> None:
        """Report where the text of a set differs from what was made again in the folders of its corpora."""
        package, languages = self.inputs.package, self.inputs.config.languages
        remade_files = {}
        for language in (languages.source, languages.target):
            files = [folder / f"tokens.{language}" for folder in folders]
            remade_files[package.text(set_name, language)] = files
        if set_name == "test":
            remade_files[package.raw_reference(languages.target)] = [folders[0] / f"raw.{languages.target}"]
            remade_files[package.gold_alignments] = [folders[0] / "gold"]
        # A package may lack the raw reference, and a corpus the gold alignments.
        for published_file, files in remade_files.items():
            is_published = published_file.relative_to(package.folder).as_posix() in self.files
            if is_published and files[0].is_file():
                remade_lines = chain.from_iterable(map(read_lines, files))
                self.verdict.problems += describe_difference(
                    published_file, read_lines(published_file), remade_lines, origin="comes from its source"
                )

    def _remake_corpus(self, folder: Path, line_count: int) -> bool:
        """Make raw text, tokens and gold alignments of the corpus that a folder is named after, in that folder.

        line_count: lines of the published text. Returns False if the archive of the corpus is missing.
        """
        # the corpus of the checkout, if it has one of that name: the package must not redefine it
        name = folder.name
        config, own_config = self.inputs.config, load_config(find_layers(REPOSITORY))
        corpus = own_config.corpora.get(name) or config.corpora[name]
        folder.mkdir(parents=True)
        languages = (config.languages.source, config.languages.target)
        raw_source, raw_target = (folder / f"raw.{language}" for language in languages)
        counts = folder / "counts.json"
        grammar = corpus.grammar
        if grammar:
            # A package from elsewhere may ask for a text without end.
            if grammar.pairs > line_count:
                raise UserError(
                    f"corpora.{name}.grammar.pairs is {grammar.pairs:,}, but the text has {line_count:,} lines"
                )
            write_corpus(
                config.grammar,
                grammar.split,
                grammar.pairs,
                sources=[raw_source],
                targets=[raw_target],
                alignments=[folder / "gold"],
                counts=counts,
            )
        else:
            archives_by_name = config.archives | own_config.archives
            sides = {}
            for (side, text), output in zip(corpus.sides.items(), (raw_source, raw_target), strict=True):
                if self.archives is None or text.archive is None:
                    return False
                # A package from elsewhere must not name a file outside of the folder of archives.
                path = PurePosixPath(archives_by_name[text.archive].path)
                if ".." in path.parts or not (self.archives / path).is_file():
                    return False
                sides[side] = Side(self.archives / path, text.member, [output], text.md5)
            extract_corpus(sides, counts, corpus.pairs)

        # tokenize it as the package's settings say
        own_corpora = config.model_copy(update={"corpora": {**config.corpora, name: corpus}})
        source_language, target_language = languages
        prepare_shard(
            raw=(raw_source, raw_target),
            settings=get_preparation_settings(own_corpora, name),
            tokens=(folder / f"tokens.{source_language}", folder / f"tokens.{target_language}"),
            word_counts=(folder / f"words.{source_language}", folder / f"words.{target_language}"),
            counts=counts,
        )
        return True


def describe_difference(
    path: Path, written_lines: Iterable[str], remade_lines: Iterable[str], origin: str
) -> list[str]:
    """Return a line about the first line that differs in two texts; none if they are equal.

    Args:
        path: the file with the written lines.
        written_lines, remade_lines: the texts.
        origin: what the message says about the line that was made again, such as "comes from its source".
    """
    line_pairs = zip_longest(written_lines, remade_lines)
    for number, (written_line, remade_line) in enumerate(line_pairs, start=1):
        if written_line != remade_line:
            difference = f"{_quote(written_line)} is written, {_quote(remade_line)} {origin}"
            return [f"{path}, line {number}: {difference}"]
    return []


def _quote(line: str | None) -> str:
    """Return a line in quotes, or its beginning if it is long."""
    return "nothing" if line is None else repr(line[:_MAX_QUOTED_CHARACTERS])


def check_paper(published_file: Path, own_file: Path) -> list[str]:
    """Return a line if the package's file of a paper and the checkout's differ in more than comments and layout."""
    if read_paper(published_file) == read_paper(own_file):
        return []
    return describe_difference(
        published_file,
        written_lines=read_lines(published_file),
        remade_lines=read_lines(own_file),
        origin=f"stands in {own_file}",
    )


def compare_with_experiments(config: Config, results: Path) -> list[str]:
    """Return a line if a package has other settings than the checkout's experiment of its name or, without one, the
    most similar experiment.

    This finds settings that were edited to ask for fewer tables or for other test text. An experiment with Moses also
    has the settings of its `moses.yaml`.
    """
    folder = results.resolve()
    experiments = sorted(path.parent for path in (REPOSITORY / "experiments").glob("*/config.yaml"))
    names = (folder.parent.name, folder.name)
    named_experiments = [experiment for experiment in experiments if experiment.name in names]

    # the experiment, with or without Moses, with the fewest differences
    candidates = []
    for experiment in named_experiments or experiments:
        for differences in _list_differences(config, experiment):
            candidates.append((len(differences), experiment.name, differences))
    _, name, differences = min(candidates, default=(0, "", []))
    if not differences:
        return []
    return [f"settings other than those of experiments/{name} here: {'; '.join(differences)}"]


def _list_differences(config: Config, experiment: Path) -> list[list[str]]:
    """Return the differences from an experiment of the checkout, and from the same experiment with Moses.

    Models that only one of both uses are not compared.
    """
    values = flatten(get_published_settings(config))
    candidates = []
    for extra_layers in ([], [Path("moses.yaml")]):
        # Paths are relative to the folder of the experiment, which is the working directory of a run. An experiment
        # without such a layer, or with settings that cannot be read, is left out.
        with suppress(UserError), chdir(experiment):
            own_config = load_config(find_layers(Path(), extra_layers))
            own_values = flatten(get_published_settings(own_config))
            unshared_models = set(config.use.models) ^ set(own_config.use.models)
            prefixes = tuple(f"models.{model}." for model in unshared_models)
            differences = []
            for key in sorted(own_values.keys() | values.keys()):
                value, own_value = values.get(key), own_values.get(key)
                if value != own_value and not key.startswith(prefixes):
                    differences.append(f"{key} is {format_value(value)}, here {format_value(own_value)}")
            candidates.append(differences)
    return candidates
