"""A machine-readable record of the origin of results: an RO-Crate (https://w3id.org/ro/crate) beside them.

It names every file with its checksum, the settings, the text with its checksums, each model's training (seed, hours,
device, code, packages) and decoding (settings, weights, seconds, device, code, packages), and the program that made
tables and figures. The same files give the same bytes: ids are not random, and the date is that of the newest file (or
`SOURCE_DATE_EPOCH`).
"""

from __future__ import annotations

import hashlib
import mimetypes
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.model.file import File
from rocrate.model.softwareapplication import SoftwareApplication
from rocrate.rocrate import ROCrate

from nmt.decoding import sidecar
from nmt.errors import UserError
from nmt.io.environment import origin, release_name
from nmt.io.files import read_json, sha256, write_json
from nmt.model.model_folder import SETTINGS, SUMMARY
from pipeline.config import snapshot
from pipeline.config.catalogue import Archive, public
from pipeline.config.runs import Run, runs_of
from pipeline.config.schema import Config
from pipeline.config.systems import labels_of, systems_in_use
from pipeline.download.extraction import receipt
from pipeline.results.package import MODES, ReplicationPackage, is_part

RECORD = "ro-crate-metadata.json"
REPORT = "#report"
"""Id of the action that made tables and figures."""
PAPERS = {
    "bahdanau2015": ("1409.0473", "Neural Machine Translation by Jointly Learning to Align and Translate"),
    "cho2014b": (
        "1409.1259",
        "On the Properties of Neural Machine Translation: Encoder-Decoder Approaches",
    ),
    "sutskever2014": ("1409.3215", "Sequence to Sequence Learning with Neural Networks"),
}
"""Number at arXiv and title of the papers that `artifacts.papers` can name."""
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENSE = "https://spdx.org/licenses/MIT"

_KINDS = {
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".tex": "text/x-tex",
    ".yaml": "application/yaml",
    ".gz": "application/gzip",
    ".html": "text/html",
}
_SUMMARY = ("updates", "epochs", "hours", "device", "stopped_by", "train_pairs", "parameters")
"""Keys that are copied from a run's summary."""

Facts = dict[str, Any]


def record(results: Path, files: Sequence[Path], archives: Path) -> None:
    """Write the record of `files`, which lie in `results`, whole or not at all.

    `archives` is where the downloads lie, with notes of what `download` saw beside them.
    Raises a `UserError` for a file that is missing or lies elsewhere.
    """
    package = ReplicationPackage(results)
    config = snapshot.read(package.configuration)
    crate = _Crate(results)
    crate.describe(config, _date(files))
    for file in sorted(set(files)):
        crate.add_file(file)
    text = [*crate.add_archives(config, archives), crate.file(package.configuration)]
    for run in runs_of(config, config.use.models).values():
        crate.add_run(run, package, text)
    for system in systems_in_use(config):
        for set_ in package.sets(system):
            for mode in MODES:
                crate.add_decoding(system, mode, set_, package)
    crate.add_making()
    write_json(results / RECORD, crate.as_json())


def _date(files: Iterable[Path]) -> datetime:
    """Return the time of the newest file, or what `SOURCE_DATE_EPOCH` says (reproducible-builds.org)."""
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    newest = int(stated) if stated else max(int(_present(file).stat().st_mtime) for file in files)
    return datetime.fromtimestamp(newest, UTC)


def _present(file: Path) -> Path:
    if not file.is_file():
        raise UserError(f"{file}: no such file; make it again")
    return file


class _Crate:
    """A crate under construction. The id of an entity says what it is."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._crate = ROCrate()
        self._here = origin()

    def as_json(self) -> Any:
        """Return the crate as the JSON-LD of its metadata file."""
        return self._crate.metadata.generate()

    def describe(self, config: Config, date: datetime) -> None:
        """Say what the whole is."""
        crate = self._crate
        labels = ", ".join(labels_of(config).values())
        sides = f"{config.languages.source} to {config.languages.target}"
        crate.name = "Neural machine translation by jointly learning to align and translate: results of a run"
        crate.description = (
            f"Tables and figures of {labels}; {sides}; tested on {', '.join(config.use.test)}."
        )
        crate.datePublished = date
        crate.license = self._thing(LICENSE, "CreativeWork", name="MIT License")
        crate.root_dataset["conformsTo"] = self._thing(
            PROFILE, "CreativeWork", name="Process Run Crate", version="0.5"
        )
        crate.root_dataset["citation"] = [
            self._thing(f"https://arxiv.org/abs/{number}", "ScholarlyArticle", name=title)
            for number, title in (PAPERS[paper] for paper in config.artifacts.papers if paper in PAPERS)
        ]

    def add_file(self, path: Path) -> None:
        """Add a file of the results with size and sum."""
        try:
            name = path.resolve().relative_to(self._results.resolve()).as_posix()
        except ValueError:
            raise UserError(
                f"{path}: does not lie in {self._results}; the record is of what lies there"
            ) from None
        kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        facts = {
            "name": name,
            "contentSize": str(_present(path).stat().st_size),
            "sha256": sha256(path),
            "encodingFormat": kind,
        }
        self._crate.add(File(self._crate, path, name, properties=facts))

    def file(self, path: Path) -> Entity:
        """Return the entity of a file that was added."""
        name = path.relative_to(self._results).as_posix()
        found: Entity | None = self._crate.get(name)
        if found is None:
            raise UserError(f"{path}: not among the files of the record; add it with --file")
        return found

    def add_archives(self, config: Config, folder: Path) -> list[Entity]:
        """Add the downloads that the text comes from."""
        return [self._archive(archive, folder) for archive in config.archives.values()]

    def _archive(self, archive: Archive, folder: Path) -> Entity:
        seen = _seen(archive, folder)
        facts = {
            "contentSize": str(seen["bytes"]) if seen.get("bytes") else None,
            "sha256": seen.get("sha256"),
        }
        known = {name: value for name, value in facts.items() if value is not None}
        # passwords and signatures of addresses are not published
        url, source = public(archive.url), public(seen.get("source", ""))
        entity = self._thing(url, "DigitalDocument", name=archive.path, **known)
        # a folder of this machine is nobody else's concern
        taken_from = source if source.startswith("http") and source != url else None
        return self._with_facts(entity, {"md5": seen.get("md5"), "taken from": taken_from})

    def add_run(self, run: Run, package: ReplicationPackage, text: Sequence[Entity]) -> None:
        """Add the training of one model at one seed."""
        summary = read_json(package.of_run(run.name, SUMMARY))
        made_with = summary.get("made_with", {})
        data = [self._prepared(side, total) for side, total in summary.get("data", {}).items()]
        action = self._thing(
            f"#training-{run.name}",
            "CreateAction",
            name=f"Training of {summary['label']} with seed {run.seed}",
            instrument=self._code(made_with or {"code": {"version": "unknown"}}),
            object=[*text, *data],
            result=[self.file(package.of_run(run.name, name)) for name in (SUMMARY, SETTINGS)],
        )
        facts = {"seed": run.seed, **{name: summary.get(name) for name in _SUMMARY}}
        machine = {name: made_with.get(name) for name in ("python", "system", "processor")}
        self._with_facts(action, {**facts, **machine})
        self._crate.root_dataset.append_to("mentions", action)

    def add_decoding(self, system: str, mode: str, set_: str, package: ReplicationPackage) -> None:
        """Add the making of one file of translations, as `decode` recorded it."""
        translations = package.translations(system, mode, set_)
        name = f"{system}-{mode}" if set_ == "test" else f"{system}-{set_}-{mode}"
        made = sidecar.read(translations)
        action = self._thing(
            f"#decoding-{name}",
            "CreateAction",
            name=f"Translation by {system} ({mode}{', development set' * (set_ == 'dev')})",
            instrument=self._code(made["made_with"]),
            object=[self._weights(model) for model in made["models"]],
            result=[self.file(translations), self.file(package.making(system, mode, set_))],
        )
        machine = {name: made["made_with"].get(name) for name in ("python", "system", "processor")}
        facts = {name: made.get(name) for name in ("average", "sentences", "seconds", "resumed", "device")}
        self._with_facts(action, {"mode": made["mode"], **made["settings"], **facts, **machine})
        self._crate.root_dataset.append_to("mentions", action)

    def _weights(self, model: Facts) -> Entity:
        """Return a model's weights, told by their sum."""
        total = model["sha256"]
        return self._thing(
            f"#weights-{total[:12]}", "DigitalDocument", name=f"Weights of {model['name']}", sha256=total
        )

    def _prepared(self, side: str, total: str) -> Entity:
        """Return a text or vocabulary as the trainer read it, told by its sum alone."""
        names = {
            "train": "Binary training text",
            "dev": "Binary development text",
            "source_vocabulary": "Vocabulary of the source language",
            "target_vocabulary": "Vocabulary of the target language",
        }
        identifier = f"#{side.replace('_', '-')}-{total[:12]}"
        return self._thing(identifier, "DigitalDocument", name=names.get(side, side), sha256=total)

    def add_making(self) -> None:
        """Add the program that made tables and figures from their inputs."""
        files = {entity.id: entity for entity in self._crate.data_entities}
        inputs = [entity for name, entity in files.items() if is_part(name)]
        made = [entity for name, entity in files.items() if not is_part(name)]
        action = self._thing(
            REPORT,
            "CreateAction",
            name="Evaluation of the translations, tables and figures",
            instrument=self._code(self._here),
            object=inputs,
            result=made,
        )
        self._with_facts(action, {name: self._here[name] for name in ("python", "system", "processor")})
        self._crate.root_dataset.append_to("mentions", action)

    def _code(self, made_with: Facts) -> Entity:
        """Return the program at one version, with the packages that it ran on."""
        code = made_with["code"]
        release = release_name(code)
        packages = [
            self._add(
                SoftwareApplication(
                    self._crate,
                    f"#package-{name}-{version}",
                    properties={"name": name, "softwareVersion": version},
                )
            )
            for name, version in sorted(made_with.get("packages", {}).items())
        ]
        number = f"-{_short_sum(made_with['packages'])}" if packages else ""
        facts = {"name": "nmt", "softwareVersion": release}
        entity = self._add(SoftwareApplication(self._crate, f"#nmt-{release}{number}", properties=facts))
        if packages:
            entity["softwareRequirements"] = packages
        return self._with_facts(
            entity, {"commit": code.get("commit"), "uncommitted changes": code.get("dirty")}
        )

    def _thing(self, identifier: str, kind: str, **facts: Any) -> Entity:
        return self._add(ContextEntity(self._crate, identifier, properties={"@type": kind, **facts}))

    def _add(self, entity: Entity) -> Entity:
        """Add an entity, or find the one that has its id already."""
        found: Entity | None = self._crate.get(entity.id)
        if found is None:
            self._crate.add(entity)
        return found or entity

    def _with_facts(self, entity: Entity, facts: Facts) -> Entity:
        """Say of an entity what schema.org has no word for."""
        base = entity.id if entity.id.startswith("#") else f"#{quote(entity.id, safe='')}"
        values = [
            self._thing(f"{base}/{name.replace(' ', '-')}", "PropertyValue", name=name, value=value)
            for name, value in facts.items()
            if value is not None
        ]
        if values:
            entity["additionalProperty"] = values
        return entity


def _seen(archive: Archive, folder: Path) -> Facts:
    """Return size and sums of a download: as noted when it came, else of the file there, else as the settings know."""
    local = folder / archive.path
    if noted := receipt(local):
        return noted
    if local.is_file():
        return {"bytes": local.stat().st_size, "sha256": sha256(local), "md5": archive.md5}
    return archive.model_dump(include={"bytes", "sha256", "md5"})


def _short_sum(values: dict[str, str]) -> str:
    text = ";".join(f"{name}={value}" for name, value in sorted(values.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8]
