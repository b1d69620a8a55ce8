"""Verification of published results: whether they match their record, and follow from the replication package.

Checksums compare the files with `ro-crate-metadata.json`. Tables, test text and the record itself are recomputed in
this process. Settings, texts and vocabularies are compared with what each model's training and decoding recorded.

The package comes from somebody else, so it must not decide what is read or run. Only plain files in its folder are
read, up to a size, no links and no pipes. Papers come from the checkout, and so do corpora and archives that it has.
"""

from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.io.files import read_json, sha256
from nmt.io.system import describe_code, format_version, package_versions
from nmt.io.text_files import read_lines
from nmt.settings.base import flatten, format_value
from nmt.store.model_folder import WEIGHTS
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.config.snapshot import get_published_settings
from pipeline.results.differences import describe_difference
from pipeline.results.evidence import UNPROVEN, find_inconsistent_runs
from pipeline.results.inputs import Inputs
from pipeline.results.original_text import MissingArchiveError, compare_text, make_original_text
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.package import belongs_to_package, list_files
from pipeline.results.provenance import describe_unknown_code, find_contradictions
from pipeline.results.ro_crate import RECORD, find_false_entries, read_crate
from pipeline.results.tables_and_figures import list_text_files, write_tables_and_figures

_MAX_LISTED = 3
"""Number of differing settings that a note lists."""
_TABLE_ENDINGS = (".csv", ".md", ".tex", ".json")
NOT_REMADE = (RECORD, TABLES_PROVENANCE, "README.md")
"""Files of a results folder that cannot be recomputed from the package."""
NOT_RECORDED = (RECORD, "README.md")
"""Files of a results folder that the record does not name."""


@dataclass
class Verdict:
    """The result of a verification, which its steps fill.

    problems: one line each. notes: lines about facts that are not problems. conclusion: a line about what was checked.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conclusion: str = ""

    @contextmanager
    def errors_as_problem(self, problem: str) -> Iterator[None]:
        """Turn an error inside into a problem of one line. Altered files may cause any error."""
        try:
            yield
        except Exception as error:
            error_type = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
            self.problems.append(" ".join(f"{problem}: {error_type}{error}".split()))


def verify_results(
    results: Path, archives: Path | None = None, output: Path | None = None, models: Path | None = None
) -> Verdict:
    """Check the checksums, the settings, the tables and the test text of a results folder.

    Args:
        results: the folder.
        archives: the folder of the downloaded archives, from which the test text is recreated; None: only text
            that the project's grammar generates is recreated.
        output: the folder for recomputed tables and figures; None: they are not written.
        models: a folder with models of the package, by the names of their runs, which repeat some translations.

    Raises:
        UserError: the folder has no readable record.
    """
    # 1. the checksums of the files
    verdict = Verdict()
    files, unreadable_files = list_files(results)
    crate = read_crate(results)
    checksums = {}
    for name, entity in crate.items():
        if entity["@type"] == "File" and entity.get("sha256"):
            checksums[name] = entity["sha256"]
    if not checksums:
        raise UserError(f"{results / RECORD}: names no file with a checksum; make it again")
    verdict.problems += find_altered_files(results, checksums, files)
    verdict.conclusion = f"OK: {len(checksums)} files match {RECORD} (sha256 {sha256(results / RECORD)})"

    # 2. settings, tables, text, trainings and translations, if all files of the package may be read
    verdict.problems += unreadable_files
    if not unreadable_files:
        inputs = Inputs(results)
        with verdict.errors_as_problem("nothing can be recomputed"):
            _check_package(inputs, files, archives, verdict)
        with verdict.errors_as_problem("the trainings' records cannot be compared"):
            verdict.problems += find_inconsistent_runs(inputs)
        if not verdict.problems:  # otherwise the record would differ, too, for the same reasons
            with verdict.errors_as_problem("the record cannot be recomputed"):
                recorded_files = [results / name for name in checksums]
                verdict.problems += find_false_entries(inputs, crate, recorded_files)
        if models:
            with verdict.errors_as_problem(f"{models}: no translation can be repeated"):
                _check_models(inputs, models, archives, verdict)
        if output:
            with verdict.errors_as_problem(f"{output}: tables and figures cannot be written"):
                write_tables_and_figures(inputs, output)

    # 3. notes: files without a checksum, and different versions of code and packages
    for name in sorted(files.difference(checksums, NOT_RECORDED)):
        verdict.notes.append(f"{results / name}: not in the record")
    if not unreadable_files:
        with verdict.errors_as_problem(f"{results / TABLES_PROVENANCE} does not say what made the tables"):
            verdict.notes += compare_program(results)
    verdict.conclusion += f"; taken on trust: {UNPROVEN}"
    if not models:
        verdict.conclusion += "; --models FOLDER repeats some translations"
    return verdict


# --- files and their record -------------------------------------------------------------------------------------------


def find_altered_files(results: Path, checksums: dict[str, Any], files: set[str]) -> Iterator[str]:
    """Yield a line for each recorded file that is missing, or not a plain file, or has a different checksum."""
    for name, expected_checksum in checksums.items():
        if name not in files:
            yield f"{results}/{name}: missing, but in the record"
            continue
        checksum = sha256(results / name)
        if checksum != expected_checksum:
            # str, because an altered record may have any value
            difference = f"sha256 {checksum[:12]}..., the record says {str(expected_checksum)[:12]}..."
            yield f"{results / name}: altered: {difference}"


def compare_program(results: Path) -> Iterator[str]:
    """Yield a line for this project and for each package whose version differs from the one that made the tables."""
    made_with = read_json(results / TABLES_PROVENANCE)
    recorded_versions = {"nmt": format_version(made_with["code"]), **made_with["packages"]}
    versions = {"nmt": format_version(describe_code()), **package_versions()}
    for name, recorded_version in recorded_versions.items():
        version = versions.get(name, recorded_version)  # a package that is not installed is not compared
        if version != recorded_version:
            comparison = f"made with {name} {recorded_version}, but this is {name} {version}"
            yield f"the tables were {comparison}: numbers may differ for this reason"


# --- what follows from the package ------------------------------------------------------------------------------------


def _check_package(inputs: Inputs, files: set[str], archives: Path | None, verdict: Verdict) -> None:
    """Check settings, tables and text of a package, and add to the conclusion what was recomputed.

    files: names of the plain files in the folder of results. archives: see `verify_results`.
    """
    # differences from an experiment of the checkout show whether settings were edited to ask for fewer tables or for a
    # different test text
    name, differences = find_experiment(inputs.config, inputs.folder)
    if differences:
        listed_differences = "; ".join(differences[:_MAX_LISTED])
        if len(differences) > _MAX_LISTED:
            listed_differences += f"; and {len(differences) - _MAX_LISTED} more"
        verdict.notes.append(f"settings that differ from experiments/{name} here: {listed_differences}")

    with verdict.errors_as_problem("trainings and translations cannot be checked"):
        verdict.problems += find_contradictions(inputs)
        verdict.notes += describe_unknown_code(inputs)

    # tables, and the text of each set
    table_files = _compare_tables(inputs, files, verdict)
    remade_sets = []
    for set_name in inputs.sets:
        with (
            verdict.errors_as_problem(f"the {set_name} text cannot be recreated"),
            TemporaryDirectory(prefix="nmt-verify-") as folder,
        ):
            try:
                corpus_folders = make_original_text(inputs, set_name, Path(folder), archives)
            except MissingArchiveError as error:
                verdict.notes.append(f"the {set_name} text is not recreated: {error}")
            else:
                verdict.problems += compare_text(inputs, set_name, corpus_folders)
                remade_sets.append(set_name)

    # files that are neither tables nor part of the package
    unproven_files = []
    for name in sorted(files.difference(table_files, NOT_REMADE)):
        if belongs_to_package(name):
            continue
        if name.endswith(_TABLE_ENDINGS):
            reason = f"{inputs.configuration} does not ask for this table, so it is not recomputed"
            verdict.problems.append(f"{inputs.folder / name}: does not follow: {reason}")
        else:
            unproven_files.append(name)
    if unproven_files:
        verdict.notes.append(f"known by checksum alone: {', '.join(unproven_files)}")

    verdict.conclusion += f"; {len(table_files)} recomputed files of tables are identical"
    if remade_sets:
        verdict.conclusion += f"; recreated {' and '.join(remade_sets)} text is identical"


def _check_models(inputs: Inputs, models: Path, archives: Path | None, verdict: Verdict) -> None:
    """Translate sentences with the given models, compute the models' development NLL, and compare with the package."""
    # imported here, since it takes seconds to import PyTorch
    from pipeline.results import retranslation

    given_runs = [run for run in inputs.runs if (models / run / WEIGHTS).is_file()]
    systems = [system for system in inputs.systems.values() if set(system.members) <= set(given_runs)]
    if not systems:
        raise UserError(f"none of its folders is a model of the package: {', '.join(inputs.runs)}")
    verdict.problems += retranslation.compare_models(inputs, models)
    for system in systems:
        with verdict.errors_as_problem(f"translations of {system.name} cannot be repeated"):
            verdict.problems += retranslation.repeat_translations(inputs, system, models)
    verdict.conclusion += (
        f"; repeated {retranslation.SENTENCES_PER_FILE} translations in each file of {len(systems)} of "
    )
    verdict.conclusion += f"{len(inputs.systems)} systems"

    if inputs.config.pretrained.models:
        return  # the package does not contain the development text of pretrained models
    with TemporaryDirectory(prefix="nmt-verify-") as folder:
        try:
            dev_text = retranslation.binarize_dev_text(inputs, Path(folder), archives)
        except MissingArchiveError as error:
            verdict.notes.append(f"the development NLL is not recomputed: {error}")
            return
        for run in given_runs:
            verdict.problems += retranslation.compare_dev_nll(inputs, run, models, dev_text)
    verdict.conclusion += ", and recomputed their development NLL"


def _compare_tables(inputs: Inputs, files: set[str], verdict: Verdict) -> list[str]:
    """Recompute all files of tables, add a problem for each table that differs, and return the names of the files."""
    content_functions = list_text_files(inputs)
    differing_tables = set()
    for name, make_content in content_functions.items():
        table = PurePosixPath(name).stem
        if table in differing_tables:
            continue  # if the CSV of a table differs, its other files differ, too
        problem_count = len(verdict.problems)
        with verdict.errors_as_problem(f"{name} cannot be recomputed"):
            verdict.problems += _compare_file(inputs.folder / name, make_content(), name in files)
        if len(verdict.problems) > problem_count:
            differing_tables.add(table)
    return list(content_functions)


def _compare_file(file: Path, content: str, is_published: bool) -> list[str]:
    """Return a line if a published file is missing, or differs from its recomputed content."""
    if not is_published:
        return [f"{file}: missing, but the settings ask for it"]
    new_bytes = content.encode()
    if file.stat().st_size == len(new_bytes) and file.read_bytes() == new_bytes:
        return []
    remade_lines = content.removesuffix("\n").split("\n")
    problems = describe_difference(file, read_lines(file), remade_lines, message_end="follows")
    return problems or [f"{file}: its line ends differ from the recomputed file"]


def find_experiment(config: Config, results: Path) -> tuple[str, list[str]]:
    """Return the experiment of the checkout that a package is named after, and the settings in which they differ.

    If the package has no such name, the most similar experiment is returned.
    """
    folder = results.resolve()
    experiments = sorted(path.parent for path in (REPOSITORY / "experiments").glob("*/config.yaml"))
    names = (folder.parent.name, folder.name)  # experiments/demo/results, or results/packages/demo
    named_experiments = [experiment for experiment in experiments if experiment.name in names]

    # the experiment, with or without Moses, with the fewest differences
    candidates = []
    for experiment, extra_layers in product(named_experiments or experiments, ([], [Path("moses.yaml")])):
        # Paths are relative to the folder of the experiment, which is the working directory of a run. An experiment
        # without moses.yaml, or with settings that cannot be read, is left out.
        with suppress(UserError), chdir(experiment):
            differences = _list_differences(config, load_config(find_layers(Path(), extra_layers)))
            candidates.append((len(differences), experiment.name, differences))
    _, name, differences = min(candidates, default=(0, "", []))
    return name, differences


def _list_differences(config: Config, experiment_config: Config) -> list[str]:
    """Return the differences of a package's settings from those of an experiment.

    Models that only one of the two uses are not compared.
    """
    unshared_models = set(config.use.models) ^ set(experiment_config.use.models)
    unshared_prefixes = tuple(f"models.{model}." for model in unshared_models)
    values, experiment_values = (
        flatten(get_published_settings(settings)) for settings in (config, experiment_config)
    )
    differences = []
    for key in sorted(experiment_values.keys() | values.keys()):
        value, experiment_value = values.get(key), experiment_values.get(key)
        if value != experiment_value and not key.startswith(unshared_prefixes):
            differences.append(f"{key} is {format_value(value)}, here {format_value(experiment_value)}")
    return differences
