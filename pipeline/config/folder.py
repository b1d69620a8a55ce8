"""The folder of an experiment: where each file of its run lies, and the keys of its trainings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nmt.data.meta import data_checksums, read_meta
from nmt.errors import UserError
from nmt.settings.base import FlatSettings, describe_differences, flatten
from nmt.settings.training import ModelRun
from nmt.store.model_folder import WEIGHTS, initial_weights_checksum
from nmt.store.training_store import collect_training_inputs, compute_model_key
from pipeline.config.job_settings import get_bitext_settings
from pipeline.config.runs import Run, collect_runs, get_run_settings
from pipeline.config.schema import Config

RUN_SETTINGS = Path("settings") / "run.json"
"""The merged settings of the last call of Snakemake in an experiment's folder."""


def is_of_last_run(file: Path, folder: Path = Path()) -> bool:
    """Return whether a file was written after the last run in the folder of an experiment began.

    Both times are of the clock of the file system.
    """
    settings_file = folder / RUN_SETTINGS
    return not settings_file.exists() or file.stat().st_mtime >= settings_file.stat().st_mtime


@dataclass(frozen=True)
class ExpectedModel:
    """The finished model that a run's settings and its text should give."""

    settings: ModelRun
    training_inputs: FlatSettings
    """All values that decide the weights: settings, checksums of the text, key of the model that it continues."""
    key: str
    """The digest of these inputs, which names the model in the store."""


@dataclass(frozen=True)
class ExperimentFolder:
    """The files of an experiment with these settings; `folder` is the empty path for the working directory."""

    config: Config
    folder: Path = Path()

    # --- text ---------------------------------------------------------------------------------------------------

    @property
    def data(self) -> Path:
        """The prepared text: the experiment's own, or that of the experiment in `data_from`."""
        return self.folder / os.path.join(self.config.data_from or "", "data")

    def bitext(self, split: str, run: Run | None = None) -> Path:
        """Return the folder of the ids of a split (`train` or `dev`) that a run learns from."""
        config = self.config
        if run and config.measures_moses and run.model == config.moses.phrase_model:
            return self.folder / "moses" / "phrases" / split
        return self.data / "binary" / split

    # --- models and their results -------------------------------------------------------------------------------

    @property
    def store(self) -> Path:
        """The expensive results of all runs in this folder, also of runs with former settings."""
        return self.folder / "store"

    @property
    def shared_stores(self) -> list[Path]:
        """The stores of other experiments, whose finished models are used."""
        return [self.folder / self.config.data_from / "store"] if self.config.data_from else []

    def model(self, run: str) -> Path:
        """Return the folder of a run's finished model."""
        return self.folder / "models" / run

    def training_progress(self, run: str) -> Path:
        """Return the file in which a training records its progress."""
        return self.folder / "logs" / "train" / f"{run}.progress.json"

    def translations(self, set_name: str, system: str, mode: str) -> Path:
        """Return a system's translations of a set (`test` or `dev`) in a mode (`all` or `no_unk`)."""
        return self.folder / "translations" / set_name / f"{system}.{mode}.jsonl"

    # --- trainings in the store ---------------------------------------------------------------------------------

    def find_expected_model(self, run_name: str) -> ExpectedModel | None:
        """Return the model that a run's settings and text should give; None if the text is not prepared so far.

        Text that was prepared with different settings does not count.
        """
        run = collect_runs(self.config)[run_name]
        try:
            for split in ("train", "dev"):
                settings = flatten(get_bitext_settings(self.config, split))
                if describe_differences(flatten(read_meta(self.bitext(split)).settings), settings):
                    return None
            checksums = data_checksums(
                read_meta(self.bitext("train", run)), read_meta(self.bitext("dev", run))
            )
            initial_weights: Mapping[str, str] = {}
            if self.config.init_from:
                initial_model = self.folder / self.config.init_from
                initial_weights = _read_initial_checksum(initial_model, stamp_file(initial_model / WEIGHTS))
        except (UserError, FileNotFoundError, NotADirectoryError):
            return None
        return compute_expected_model(self.config, run, checksums, initial_weights)


def stamp_file(file: Path) -> tuple[int, ...]:
    """Return values that change when a file is written again: its inode, size and time."""
    stat = file.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


@lru_cache
def _read_initial_checksum(folder: Path, stamp: tuple[int, ...]) -> Mapping[str, str]:
    """Return the checksum of a model's weights, under its key in a summary.

    It takes seconds to compute and the logger needs it every few seconds, so it is computed once for each stamp.
    """
    return initial_weights_checksum(folder)


def compute_expected_model(
    config: Config, run: Run, checksums: Mapping[str, str], initial_weights: Mapping[str, str]
) -> ExpectedModel:
    """Return the model that a run's settings and text should give.

    checksums: of the run's text and vocabularies. initial_weights: the checksum of the model `init_from`, if any.
    """
    # the weights also depend on the model with which the training begins
    settings = get_run_settings(config, run)
    if run.base:
        base_run = collect_runs(config)[run.base]
        base_key = compute_expected_model(config, base_run, checksums, initial_weights).key
        training_inputs = collect_training_inputs(settings, checksums, base_key)
    else:
        training_inputs = collect_training_inputs(settings, {**checksums, **initial_weights})
    return ExpectedModel(settings, training_inputs, compute_model_key(training_inputs, settings))
