"""The folder of an experiment: where each file of its run lies, and the keys of its trainings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nmt.data.meta import data_checksums
from nmt.errors import UserError
from nmt.settings.base import Flat
from nmt.settings.training import ModelRun
from nmt.store.model_folder import HISTORY
from nmt.store.result_store import TrainingStore, model_key, training_facts
from pipeline.config.runs import Run, collect_runs, run_settings
from pipeline.config.schema import Config

RUN_SETTINGS = Path("settings") / "run.json"
"""The merged settings of the last call of Snakemake in an experiment's folder."""


@dataclass(frozen=True)
class ExpectedModel:
    """The finished model that the settings ask for: its settings, all that decides its training, and its key."""

    settings: ModelRun
    facts: Flat
    key: str


@dataclass(frozen=True)
class ExperimentFolder:
    """The files of an experiment with these settings; `folder` is the empty path for the working directory."""

    config: Config
    folder: Path = Path()

    @property
    def data(self) -> Path:
        """The prepared text: the experiment's own, or that of the experiment in `data_from`."""
        return self.folder / os.path.join(self.config.data_from or "", "data")

    def vocabulary(self, language: str) -> Path:
        """Return the words of a language by rank."""
        return self.data / "vocabulary" / f"{language}.tsv"

    def bitext(self, part: str, run: Run | None = None) -> Path:
        """Return the folder of the binarized text (`train` or `dev`) that a run learns from."""
        moses = self.config.moses
        if run and moses and moses.enabled and run.model == moses.phrase_model:
            return self.folder / "moses" / "phrases" / part
        return self.data / "binary" / part

    def model(self, run: str) -> Path:
        """Return the folder of a run's finished model."""
        return self.folder / "models" / run

    @property
    def store(self) -> Path:
        """The expensive results of all runs in this folder, with former settings, too."""
        return self.folder / "store"

    @property
    def shared_stores(self) -> list[Path]:
        """The stores of other experiments, whose finished models are used."""
        return [self.folder / self.config.data_from / "store"] if self.config.data_from else []

    def translations(self, set_name: str, system: str, mode: str) -> Path:
        """Return a system's translations of a set (`test` or `dev`)."""
        return self.folder / "translations" / set_name / f"{system}.{mode}.jsonl"

    def plain_translations(self, set_name: str, system: str) -> Path:
        """Return the translations of a set by Moses, one in a line."""
        return self.folder / "translations" / set_name / f"{system}.txt"

    def scores(self, set_name: str, system: str) -> Path:
        """Return the scores of a system on a set."""
        return self.folder / "scores" / set_name / f"{system}.json"

    def training_progress(self, run: str) -> Path:
        """Return the file in which a training notes its progress."""
        return self.folder / "logs" / "train" / f"{run}.progress.json"

    # --- trainings --------------------------------------------------------------------------------------------

    def expected_model(self, name: str) -> ExpectedModel:
        """Return the model of a run that the settings and the prepared text ask for.

        Raises:
            UserError: the text is not prepared.
        """
        run = collect_runs(self.config, list(self.config.models))[name]
        data = data_checksums(self.bitext("train", run), self.bitext("dev", run))
        return expected_model(self.config, run, data)

    def training_state(self, name: str) -> Path | None:
        """Return the folder with the checkpoints of the training that the settings ask for; None if there is none."""
        try:
            expected = self.expected_model(name)
        except UserError:  # the text is not prepared
            return None
        states = TrainingStore(self.store).state_folders(name, expected.facts, expected.settings)
        existing = [state for state in states if state.is_dir()]
        return existing[-1] if existing else None

    def finished_model(self, name: str) -> Path | None:
        """Return the stored model that the settings and the prepared text ask for; None if there is none."""
        try:
            key = self.expected_model(name).key
        except UserError:
            return None
        return TrainingStore(self.store, self.shared_stores).find_model(key)

    def history(self, name: str) -> Path:
        """Return the history of a run's training that is at work or has ended; perhaps there is no such file."""
        return (self.training_state(name) or self.finished_model(name) or self.model(name)) / HISTORY


def expected_model(config: Config, run: Run, data: Mapping[str, str]) -> ExpectedModel:
    """Return the model of a run that the settings ask for.

    Args:
        config: the settings.
        run: the run.
        data: checksums of its text and vocabularies.
    """
    base_key = None
    if run.base:
        base = collect_runs(config, list(config.models))[run.base]
        base_key = expected_model(config, base, data).key
    settings = run_settings(config, run)
    facts = training_facts(settings, data, base_key)
    return ExpectedModel(settings, facts, model_key(facts, settings))
