"""Prepared text and trainings of an experiment as files alone, for tests of what is told of them."""

import json
from pathlib import Path

from nmt.store.model_folder import SUMMARY
from nmt.store.training_store import TrainingStore, finished_model_folder
from pipeline.config.folder import ExperimentFolder
from pipeline.config.job_settings import get_bitext_settings
from pipeline.config.schema import Config

META = {
    "pairs": 1, "source_words": 1, "target_words": 1, "shuffled_seed": None, "sha256": "text",
    "source_vocabulary_sha256": "source", "target_vocabulary_sha256": "target",
}  # fmt: skip


def prepare_text(config: Config, folder: Path) -> None:
    """Write what the binarized text of an experiment says of itself."""
    for part in ("train", "dev"):
        file = ExperimentFolder(config, folder).bitext(part) / "meta.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        meta = META | {"settings": get_bitext_settings(config, part)}
        file.write_text(json.dumps(meta), encoding="utf-8")


def state_of(config: Config, folder: Path, run: str) -> Path:
    """The folder in the store where a training of prepared text belongs; it is made."""
    experiment = ExperimentFolder(config, folder)
    expected = experiment.find_expected_model(run)
    state = TrainingStore(experiment.store).find_state_folders(
        run, expected.training_inputs, expected.settings
    )[0]
    state.mkdir(parents=True, exist_ok=True)
    return state


def finish(config: Config, folder: Path, run: str) -> Path:
    """Let a training have ended, without weights; return the folder of the finished model."""
    key = ExperimentFolder(config, folder).find_expected_model(run).key
    finished = finished_model_folder(state_of(config, folder, run), key)
    finished.mkdir()
    (finished / SUMMARY).write_text("{}", encoding="utf-8")
    return finished
