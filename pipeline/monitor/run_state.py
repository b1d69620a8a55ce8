"""The state of each training of an experiment, as its files tell it. Each is read once."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nmt.store.model_folder import HISTORY
from nmt.store.training_store import TrainingStore
from nmt.training.history import RunStatus, count_planned_updates, read_run_status
from pipeline.config.folder import ExpectedModel, ExperimentFolder, stamp_file
from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config

CHECKPOINT_NAME = re.compile(r"checkpoint-(?P<update>\d+)\.safetensors")


@dataclass(frozen=True)
class RunState:
    """The training of a run with the present settings and text.

    model: the model that the training should give; None if its text is not prepared.
    folder: the training's folder in the store, with lock and checkpoints; None if the training has not begun.
    finished_model: the folder of the finished model in a store, or None.
    status: how far the training has come, by its history.
    planned_updates: the number of the last update. If the training ends after some epochs, this is an upper limit until
        their length is known.
    """

    run: Run
    model: ExpectedModel | None
    folder: Path | None
    finished_model: Path | None
    status: RunStatus
    planned_updates: int

    @property
    def checkpoint_update(self) -> int | None:
        """The update of the last checkpoint, from which the training can resume; None if there is none."""
        if self.folder is None:
            return None
        matches = [CHECKPOINT_NAME.fullmatch(path.name) for path in self.folder.glob("checkpoint-*")]
        return max((int(match["update"]) for match in matches if match), default=None)


class RunStates:
    """The states of the runs of an experiment, by name. Each is read when it is first asked for.

    is_text_prepared: whether the files of the text are those that the trainings will read.
    """

    def __init__(self, config: Config, folder: Path, is_text_prepared: bool = True) -> None:
        self.config, self.is_text_prepared = config, is_text_prepared
        self.experiment = ExperimentFolder(config, folder)
        self.runs = collect_runs(config)
        self._states: dict[str, RunState] = {}

    def __getitem__(self, name: str) -> RunState:
        if name not in self._states:
            self._states[name] = self._read_state(self.runs[name])
        return self._states[name]

    def _read_state(self, run: Run) -> RunState:
        """Read the state of a run from the store."""
        experiment = self.experiment
        training = self.config.models[run.model].training
        model = experiment.find_expected_model(run.name) if self.is_text_prepared else None
        folder, finished_model, status = None, None, RunStatus()
        if model:
            store = TrainingStore(experiment.store, experiment.shared_stores)
            finished_model = store.find_model(model.key)
            # Trainings with different ends share the first folder, unless the training in it has gone on beyond this
            # end. The second folder, if it exists, is only for this end.
            for state_folder in store.find_state_folders(run.name, model.training_inputs, model.settings):
                progress = _read_status(state_folder / HISTORY, training.dev_score)
                is_beyond_end = progress.update > count_planned_updates(training, progress.updates_per_epoch)
                if state_folder.is_dir() and (finished_model or not is_beyond_end):
                    folder, status = state_folder, progress
            if finished_model:
                status = _read_status(finished_model / HISTORY, training.dev_score)
        planned_updates = count_planned_updates(training, status.updates_per_epoch)
        return RunState(run, model, folder, finished_model, status, planned_updates)


def _read_status(history: Path, dev_score: str) -> RunStatus:
    """Return how far a run has come.

    The logger asks for this every few seconds, so an unchanged file is not read again.
    """
    if not history.exists():
        return RunStatus()
    return _read_unchanged_status(history, dev_score, stamp_file(history))


@lru_cache(maxsize=1000)
def _read_unchanged_status(history: Path, dev_score: str, stamp: tuple[int, ...]) -> RunStatus:
    """Read a history once for each stamp, which only tells the cache whether the file has changed."""
    return read_run_status(history, dev_score)
