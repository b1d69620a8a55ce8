"""An experiment's folder: its recorded results, or the progress of its training."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from nmt.errors import UserError
from nmt.io.environment import REPOSITORY
from nmt.io.files import read_json
from nmt.training.history import Record, records, whole_records
from pipeline.config import snapshot
from pipeline.config.artifacts import FIRST_PAPER, Report
from pipeline.config.job_settings import report_settings
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import Run, runs_of
from pipeline.config.schema import Config
from pipeline.results.package import ReplicationPackage
from pipeline.results.papers import Paper, read_paper
from pipeline.results.ro_crate import RECORD
from pipeline.results.verify import altered, recorded_checksums
from workflow.results_page.groups import Comparison, compared

PAPERS = REPOSITORY / "workflow" / "papers"


@dataclass(frozen=True)
class Experiment:
    """An experiment. Raises a `UserError` where a file of its results is not as it was recorded."""

    path: Path

    def __post_init__(self) -> None:
        if not self.finished:
            return
        files = {
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()
        }
        for problem in altered(self.folder, recorded_checksums(self.folder, files), files):
            raise UserError(problem)

    @property
    def name(self) -> str:
        """Return what its folder is called."""
        return Path(os.path.abspath(self.path)).name

    @property
    def folder(self) -> Path:
        """Return where its results are."""
        return self.path / "results"

    @property
    def finished(self) -> bool:
        """Return whether there are results with a record; of others only the training is shown."""
        return (self.folder / RECORD).is_file()

    @property
    def package(self) -> ReplicationPackage:
        """Return the inputs of the results."""
        return ReplicationPackage(self.folder)

    @cached_property
    def planned(self) -> Config:
        """Return the settings as they are now."""
        return load(find_layers(REPOSITORY / "config.yaml", self.path))

    @cached_property
    def config(self) -> Config:
        """Return the settings with which the results were made, or will be."""
        return snapshot.read(self.package.configuration) if self.finished else self.planned

    @property
    def settings(self) -> Report:
        """Return the labels and the settings of the intervals."""
        return report_settings(self.config)

    @cached_property
    def papers(self) -> list[Paper]:
        """Return the papers whose tables it makes."""
        names = self.config.artifacts.papers
        return [
            read_paper(self.package.paper(name) if self.finished else PAPERS / f"{name}.yaml")
            for name in names
        ]

    @property
    def of_first_paper(self) -> bool:
        """Return whether there are results of the models of Bahdanau et al. (2015)."""
        return self.finished and FIRST_PAPER in self.config.artifacts.papers

    @property
    def runs(self) -> dict[str, Run]:
        """Return the runs that the results are of."""
        return runs_of(self.config, self.config.use.models) if self.finished else {}

    @property
    def unfinished(self) -> dict[str, Run]:
        """Return runs that the experiment asks for and the results lack."""
        wanted = runs_of(self.planned, self.planned.use.models)
        return {name: run for name, run in wanted.items() if name not in self.runs}

    @cached_property
    def summaries(self) -> dict[str, dict[str, Any]]:
        """Return what training left of each finished run."""
        return {name: read_json(self.package.of_run(name, "summary.json")) for name in self.runs}

    @cached_property
    def histories(self) -> dict[str, list[Record]]:
        """Return the learning curves of finished runs, and of unfinished ones as far as they are."""
        found = {name: [*records(self.package.of_run(name, "history.jsonl"))] for name in self.runs}
        begun = {name: self.path / "state" / name / "history.jsonl" for name in self.unfinished}
        return found | {name: [*whole_records(path)] for name, path in begun.items() if path.is_file()}

    @property
    def limit(self) -> int:
        """Return the smallest training limit in words of all models. Longer sentences count as long."""
        wanted = (self.planned.models[name].max_words for name in self.planned.use.models)
        return min(*wanted, *(self.config.models[run.model].max_words for run in self.runs.values()))

    @cached_property
    def comparison(self) -> Comparison:
        """Return BLEU of all models and pairs, also on long sentences."""
        return compared(self.package, self.config, self.limit)

    def csv(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table; none where there is no such file."""
        path = self.folder / f"{name}.csv"
        return (
            pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records") if path.is_file() else []
        )
