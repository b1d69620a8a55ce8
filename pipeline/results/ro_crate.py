"""A machine-readable record of the origin of results: an RO-Crate (https://w3id.org/ro/crate) beside them.

It names every file with its checksum, the downloads, each model's training and decoding with its inputs, code and
packages, and the program that made tables and figures. Settings, seeds and times stand in the files that it names. The
same files give the same bytes: the date is that of the newest file.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nmt.evaluation.translations import read_provenance
from nmt.io.files import read_json, sha256, write_json
from nmt.io.system import format_version
from nmt.store.model_folder import SETTINGS, SUMMARY
from pipeline.config.catalogue import Archive, hide_secrets
from pipeline.config.experiment import list_archives
from pipeline.config.runs import Run, collect_runs, get_labels, select_systems
from pipeline.config.schema import Config
from pipeline.download.extraction import read_download_record
from pipeline.results.inputs import Inputs
from pipeline.results.outputs import TABLES_MADE
from pipeline.results.package import MODES, ReplicationPackage, belongs_to_package
from pipeline.results.papers import PAPERS_FOLDER

RECORD = "ro-crate-metadata.json"
REPORT = "#report"
"""Id of the action that made tables and figures."""
PAPERS = {
    "bahdanau2015": ("1409.0473", "Neural Machine Translation by Jointly Learning to Align and Translate"),
    "cho2014b": ("1409.1259", "On the Properties of Neural Machine Translation: Encoder-Decoder Approaches"),
    "sutskever2014": ("1409.3215", "Sequence to Sequence Learning with Neural Networks"),
}
"""Number at arXiv and title of the papers that `artifacts.papers` can name."""
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENSES = "https://spdx.org/licenses/"

Facts = dict[str, Any]


def remove_former_files(results: Path, files: Sequence[Path]) -> list[Path]:
    """Remove the files that a former run has recorded in a results folder, and that are not among those of this one.

    Return them. Other files, which are not the run's, stay.
    """
    record_file = results / RECORD
    if not record_file.is_file():
        return []
    names = [entity["@id"] for entity in read_json(record_file)["@graph"] if entity["@type"] == "File"]
    former = [results / name for name in names if (results / name).is_file()]
    removed = sorted({*former} - {*files})
    for file in removed:
        file.unlink()
    return removed


def write_crate(results: Path, files: Sequence[Path], archives: Path) -> None:
    """Write the record of files of the results, atomically.

    Args:
        results: the folder, with a replication package.
        files: what is recorded.
        archives: where the downloads lie, with notes of what `download` saw beside them.
    """
    inputs = Inputs(ReplicationPackage(results), PAPERS_FOLDER)
    config, package = inputs.config, inputs.package
    crate = _Crate(results)
    entries = [crate.add_file(file) for file in sorted(set(files))]
    text = [crate.add_archive(archive, archives) for archive in config.archives.values()]
    text.append(crate.file(package.configuration))
    actions = [
        crate.add_training(run, package, text) for run in collect_runs(config, config.use.models).values()
    ]
    actions += [
        crate.add_decoding(system, mode, set_, package)
        for system in select_systems(config)
        for set_ in inputs.sets
        for mode in MODES
    ]
    actions.append(
        crate.add(
            REPORT,
            "CreateAction",
            name="Evaluation of the translations, tables and figures",
            instrument=crate.add_program(read_json(results / TABLES_MADE)),
            object=[entry for entry in entries if belongs_to_package(entry["@id"])],
            result=[entry for entry in entries if not belongs_to_package(entry["@id"])],
        )
    )
    papers = [PAPERS[paper] for paper in config.artifacts.papers if paper in PAPERS]
    crate.add(RECORD, "CreativeWork", about={"@id": "./"}, conformsTo={"@id": CRATE})
    crate.add(
        "./",
        "Dataset",
        name="Neural machine translation by jointly learning to align and translate: results of a run",
        description=f"Tables and figures of {', '.join(get_labels(config).values())}; "
        f"{config.languages.source} to {config.languages.target}; tested on {', '.join(config.use.test)}.",
        datePublished=datetime.fromtimestamp(
            max(int(file.stat().st_mtime) for file in files), UTC
        ).isoformat(),
        license=crate.add_license(config),
        conformsTo=crate.add(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5"),
        citation=[
            crate.add(f"https://arxiv.org/abs/{number}", "ScholarlyArticle", name=title)
            for number, title in papers
        ],
        hasPart=entries,
        mentions=actions,
    )
    write_json(results / RECORD, {"@context": f"{CRATE}/context", "@graph": [*crate.entities.values()]})


class _Crate:
    """A crate under construction. What is added twice stays what it was; references name entities by their ids."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self.entities: dict[str, Facts] = {}

    def add(self, identifier: str, kind: str, /, **facts: Any) -> Facts:
        """Add an entity with the facts that are known; return a reference to it."""
        known = {name: value for name, value in facts.items() if value is not None}
        self.entities.setdefault(identifier, {"@id": identifier, "@type": kind, **known})
        return {"@id": identifier}

    def file(self, path: Path) -> Facts:
        """Return a reference to a file of the results."""
        return {"@id": path.relative_to(self._results).as_posix()}

    def add_file(self, path: Path) -> Facts:
        """Add a file of the results with size and sum."""
        name = self.file(path)["@id"]
        kind, _ = mimetypes.guess_type(name)
        size = str(path.stat().st_size)
        return self.add(name, "File", name=name, contentSize=size, sha256=sha256(path), encodingFormat=kind)

    def add_license(self, config: Config) -> Facts:
        """Add the licence of the results: that of the text which they contain, else that of the project."""
        names = list_archives(config, [*config.use.test, *config.use.dev])
        licenses = [config.archives[name].license for name in names]
        if not names:  # the project has generated the text
            return self.add(f"{LICENSES}MIT", "CreativeWork", name="MIT License")
        if all(licenses) and len({*licenses}) == 1:
            return self.add(f"{LICENSES}{licenses[0]}", "CreativeWork", name=licenses[0])
        text = "The terms of the texts, which their sources state"
        return self.add("#license", "CreativeWork", name=text)

    def add_archive(self, archive: Archive, folder: Path) -> Facts:
        """Add a download, with size and sums as noted when it came, else as the settings know them."""
        seen = read_download_record(folder / archive.path) or archive.model_dump(
            include={"bytes", "sha256", "md5"}
        )
        # passwords and signatures of addresses are not published, and folders of this machine concern nobody
        url, source = hide_secrets(archive.url), hide_secrets(seen.get("source", ""))
        return self.add(
            url,
            "DigitalDocument",
            name=archive.path,
            contentSize=str(seen["bytes"]) if seen.get("bytes") else None,
            sha256=seen.get("sha256"),
            identifier=f"md5:{seen['md5']}" if seen.get("md5") else None,
            contentUrl=source if source.startswith("http") and source != url else None,
        )

    def add_training(self, run: Run, package: ReplicationPackage, text: Sequence[Facts]) -> Facts:
        """Add the training of one model at one seed; binary text and vocabularies are known by their sums."""
        summary = read_json(package.run_file(run.name, SUMMARY))
        data = [self._known_by_sum(part, part, total) for part, total in summary.get("data", {}).items()]
        return self.add(
            f"#training-{run.name}",
            "CreateAction",
            name=f"Training of {summary['label']} with seed {run.seed}",
            instrument=self.add_program(summary.get("made_with") or {"code": {"version": "unknown"}}),
            object=[*text, *data],
            result=[self.file(package.run_file(run.name, name)) for name in (SUMMARY, SETTINGS)],
        )

    def add_decoding(self, system: str, mode: str, set_: str, package: ReplicationPackage) -> Facts:
        """Add the making of one file of translations, as `decode` recorded it."""
        translations = package.translations(set_, system, mode)
        made = read_provenance(translations)
        return self.add(
            f"#decoding-{system}-{mode}" if set_ == "test" else f"#decoding-{system}-{set_}-{mode}",
            "CreateAction",
            name=f"Translation by {system} ({mode}{', development set' * (set_ == 'dev')})",
            instrument=self.add_program(made["made_with"]),
            object=[
                self._known_by_sum("weights", f"weights of {model['name']}", model["sha256"])
                for model in made["models"]
            ],
            result=[self.file(translations), self.file(package.provenance(set_, system, mode))],
        )

    def _known_by_sum(self, kind: str, name: str, total: str) -> Facts:
        return self.add(f"#{kind}-{total[:12]}", "DigitalDocument", name=name, sha256=total)

    def add_program(self, made_with: Facts) -> Facts:
        """Add the program at one version, with the packages that it ran on."""
        release, packages = format_version(made_with["code"]), made_with.get("packages", {})
        listed = ";".join(f"{name}={version}" for name, version in sorted(packages.items()))
        needed = [
            self.add(f"#package-{name}-{version}", "SoftwareApplication", name=name, softwareVersion=version)
            for name, version in sorted(packages.items())
        ]
        return self.add(
            f"#nmt-{release}-{hashlib.sha256(listed.encode()).hexdigest()[:8]}",
            "SoftwareApplication",
            name="nmt",
            author=self.add("#authors", "Organization", name="The authors of nmt"),
            softwareVersion=release,
            softwareRequirements=needed,
        )
