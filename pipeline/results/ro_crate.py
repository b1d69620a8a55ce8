"""A machine-readable record of the origin of results: an RO-Crate (https://w3id.org/ro/crate) in their folder.

It names every file with its checksum, the downloads, each model's training and decoding with its inputs, code and
packages, and the program that made tables and figures. Settings, seeds and times are in the named files. The same files
give the same bytes: the date of the record is the date of the newest file.
"""

import hashlib
import mimetypes
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from nmt.errors import UserError, errors_as_user_error
from nmt.evaluation.translations import provenance_path, read_provenance
from nmt.io.files import read_json, sha256, write_json
from nmt.io.system import format_version
from nmt.settings.base import shorten
from nmt.store.model_folder import SETTINGS, SUMMARY
from pipeline.config.catalogue import Archive, hide_secrets
from pipeline.config.experiment import list_archives
from pipeline.config.runs import get_labels
from pipeline.config.schema import Config
from pipeline.download.extraction import read_download_record
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.package import MAX_JSON_BYTES, MODES, ReplicationPackage, belongs_to_package

RECORD = "ro-crate-metadata.json"
REPORT = "#report"
"""Id of the action that made tables and figures."""
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENSES = "https://spdx.org/licenses/"

Entity = dict[str, Any]
"""The values of an entity by their names in the vocabulary of RO-Crate."""
EntityReference = dict[str, str]
"""A reference to an entity in the values of another entity: {"@id": ...}."""


def remove_former_files(results: Path, files: Sequence[Path], planned_names: Collection[str]) -> list[Path]:
    """Remove the files of former runs from a results folder, and return them.

    A file is removed if a former run planned it and this run did not write it. Other files stay, because the user may
    have added them.

    Args:
        results: the folder.
        files: the files that this run wrote.
        planned_names: the paths of the files that runs have planned in the folder.
    """
    # Only files found in the folder are removed, and no links: a planned name or a link may lead out of the folder.
    former_files = []
    for path in sorted(results.rglob("*")):
        is_file = stat.S_ISREG(path.lstat().st_mode)
        if is_file and path not in files and str(path) in planned_names:
            path.unlink()
            former_files.append(path)
    return former_files


def read_crate(results: Path) -> dict[str, Entity]:
    """Return the entities of the record of a results folder by their ids."""
    record = results / RECORD
    if not record.is_file() or record.is_symlink():
        raise UserError(f"{record}: no such file; expected the record that a run makes last")
    if record.stat().st_size > MAX_JSON_BYTES:
        raise UserError(f"{record}: more than {MAX_JSON_BYTES:,} bytes; too large to be read")
    with errors_as_user_error(record, KeyError, TypeError):
        return {entity["@id"]: {"@type": None, **entity} for entity in read_json(record)["@graph"]}


def write_crate(results: Path, files: Sequence[Path], archives: Path) -> None:
    """Write the record of a results folder with a replication package, atomically.

    Args:
        results: the folder.
        files: the files to record.
        archives: the folder of the downloads, with a record of each.
    """
    entities = make_entities(Inputs(results), files, archives)
    write_json(results / RECORD, {"@context": f"{CRATE}/context", "@graph": list(entities.values())})


def find_false_entries(inputs: Inputs, crate: Mapping[str, Entity], files: Sequence[Path]) -> Iterator[str]:
    """Yield a line for each entity of a record that contradicts the package.

    Files are not compared here, but by their checksums. The author may add entities and values, and decides the date
    and the downloads.

    Args:
        inputs: the package.
        crate: the entities of the record by their ids.
        files: the files that the record names.
    """
    record = inputs.folder / RECORD
    free_values = {"datePublished", "encodingFormat"}
    download_ids = {hide_secrets(archive.url) for archive in inputs.config.archives.values()}
    for identifier, entity in make_entities(inputs, files, archives=None).items():
        if entity["@type"] == "File" or identifier in download_ids:
            continue
        if identifier not in crate:
            yield f"{record}: has no {identifier}, which the package has"
            continue
        for name, value in entity.items():
            recorded_value = crate[identifier].get(name)
            if name not in free_values and recorded_value != value:
                yield f"{record}: {identifier}: {name} is {shorten(repr(recorded_value))}, unlike the package"
                break


def make_entities(inputs: Inputs, files: Sequence[Path], archives: Path | None) -> dict[str, Entity]:
    """Return the entities of the record of a package by their ids.

    files, archives: see `write_crate`. Without `archives`, the checksums of downloads come from the settings.
    """
    config = inputs.config
    crate = _Crate(inputs)

    # 1. the files, and the sources of the text
    file_references = [crate.add_file(file) for file in sorted(set(files))]
    text_references = [crate.add_archive(archive, archives) for archive in config.archives.values()]
    text_references.append(crate.refer_to(inputs.configuration))

    # 2. the actions: trainings, translations, tables
    actions = [crate.add_training(run, text_references) for run in inputs.runs]
    for system, set_name, mode in product(inputs.systems, inputs.sets, MODES):
        actions.append(crate.add_decoding(system, mode, set_name))
    report = crate.add(
        REPORT,
        "CreateAction",
        name="Evaluation of the translations, tables and figures",
        instrument=crate.add_program(read_json(inputs.folder / TABLES_PROVENANCE)),
        object=[file for file in file_references if belongs_to_package(file["@id"])],
        result=[file for file in file_references if not belongs_to_package(file["@id"])],
    )
    actions.append(report)

    # 3. the record itself, and the folder
    crate.add(RECORD, "CreativeWork", about={"@id": "./"}, conformsTo={"@id": CRATE})
    newest_time = max(int(file.stat().st_mtime) for file in files)
    labels, languages = ", ".join(get_labels(config).values()), config.languages
    crate.add(
        "./",
        "Dataset",
        name="Neural machine translation by jointly learning to align and translate: results of a run",
        description=f"Tables and figures of {labels}; {languages.source} to {languages.target}; "
        f"tested on {', '.join(config.use.test)}.",
        datePublished=datetime.fromtimestamp(newest_time, UTC).isoformat(),
        license=crate.add_license(config),
        conformsTo=crate.add(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5"),
        citation=[
            crate.add(f"https://arxiv.org/abs/{paper.arxiv}", "ScholarlyArticle", name=paper.title)
            for paper in inputs.papers.values()
        ],
        hasPart=file_references,
        mentions=actions,
    )
    return crate.entities


class _Crate:
    """An RO-Crate that is filled entity by entity. If an entity is added twice, the first one stays."""

    def __init__(self, package: ReplicationPackage) -> None:
        self._package = package
        self.entities: dict[str, Entity] = {}

    def add(self, identifier: str, kind: str, /, **values: Any) -> EntityReference:
        """Add an entity with all values that are not None; return a reference to it."""
        entity = {"@id": identifier, "@type": kind}
        entity |= {name: value for name, value in values.items() if value is not None}
        self.entities.setdefault(identifier, entity)
        return {"@id": identifier}

    def refer_to(self, path: Path) -> EntityReference:
        """Return a reference to a file of the results."""
        return {"@id": path.relative_to(self._package.folder).as_posix()}

    def add_file(self, path: Path) -> EntityReference:
        """Add a file of the results with size and checksum."""
        name = self.refer_to(path)["@id"]  # "runs/rnnsearch-50/summary.json"
        kind, _ = mimetypes.guess_type(name)
        size = str(path.stat().st_size)
        return self.add(name, "File", name=name, contentSize=size, sha256=sha256(path), encodingFormat=kind)

    def add_license(self, config: Config) -> EntityReference:
        """Add the licence of the results: the licence of their text or, for generated text, the project's licence."""
        # the archives of the text that the results contain
        names = list_archives(config, config.use.test + config.use.dev)
        if not names:
            return self.add(f"{LICENSES}MIT", "CreativeWork", name="MIT License")
        license_name, *other_licenses = {config.archives[name].license for name in names}
        if license_name and not other_licenses:
            return self.add(f"{LICENSES}{license_name}", "CreativeWork", name=license_name)
        return self.add("#license", "CreativeWork", name="The terms of the texts, which their sources state")

    def add_archive(self, archive: Archive, folder: Path | None) -> EntityReference:
        """Add an archive. Size and checksums come from the record of its download or, without it, from the settings."""
        download_record = read_download_record(folder / archive.path) if folder else None
        file_values = download_record or dict(archive)

        # Passwords and signatures in addresses are secret, and paths on this machine are private.
        url, download_url = hide_secrets(archive.url), hide_secrets(file_values.get("source", ""))
        is_from_mirror = download_url.startswith("http") and download_url != url
        return self.add(
            url,
            "DigitalDocument",
            name=archive.path,
            contentSize=str(file_values["bytes"]) if file_values["bytes"] else None,
            sha256=file_values["sha256"],
            identifier=f"md5:{file_values['md5']}" if file_values["md5"] else None,
            contentUrl=download_url if is_from_mirror else None,
        )

    def add_training(self, run: str, corpora: list[EntityReference]) -> EntityReference:
        """Add the training of one model at one seed: program, corpora, checksums of its data, and its results."""
        summary_file = self._package.run_file(run, SUMMARY)
        summary = read_json(summary_file)
        data = [self._add_checksum(name, name, checksum) for name, checksum in summary["data"].items()]
        return self.add(
            f"#training-{run}",
            "CreateAction",
            name=f"Training of {summary['label']} with seed {summary['seed']}",
            instrument=self.add_program(summary["made_with"]),
            object=corpora + data,
            result=[self.refer_to(summary_file), self.refer_to(self._package.run_file(run, SETTINGS))],
        )

    def add_decoding(self, system: str, mode: str, set_name: str) -> EntityReference:
        """Add the decoding of one file of translations, from its provenance file."""
        translations = self._package.translations(set_name, system, mode)
        provenance = read_provenance(translations)

        # the models that translated, by the checksums of their weights
        weights = []
        for model in provenance["models"]:
            weights.append(self._add_checksum("weights", f"weights of {model['name']}", model["sha256"]))

        return self.add(
            f"#decoding-{system}-{set_name}-{mode}",
            "CreateAction",
            name=f"Translation of the {set_name} set by {system} ({mode})",
            instrument=self.add_program(provenance["made_with"]),
            object=weights,
            result=[self.refer_to(translations), self.refer_to(provenance_path(translations))],
        )

    def _add_checksum(self, id_prefix: str, name: str, checksum: str) -> EntityReference:
        """Add a file that is not in the results (weights, text or a vocabulary) by its checksum."""
        return self.add(f"#{id_prefix}-{checksum[:12]}", "DigitalDocument", name=name, sha256=checksum)

    def add_program(self, made_with: dict[str, Any]) -> EntityReference:
        """Add the program at one version, with the packages that it ran on."""
        version = format_version(made_with["code"])
        requirements = []
        listing = []
        for name, package_version in sorted(made_with["packages"].items()):
            identifier = f"#package-{name}-{package_version}"
            requirements.append(
                self.add(identifier, "SoftwareApplication", name=name, softwareVersion=package_version)
            )
            listing.append(f"{name}={package_version}")

        # the id contains a checksum of the packages, because the same version may have run on different packages
        checksum = hashlib.sha256(";".join(listing).encode()).hexdigest()
        return self.add(
            f"#nmt-{version}-{checksum[:8]}",
            "SoftwareApplication",
            name="nmt",
            author=self.add("#authors", "Organization", name="The authors of nmt"),
            softwareVersion=version,
            softwareRequirements=requirements,
        )
