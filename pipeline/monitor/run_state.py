"""The state of each training of an experiment, as its files tell it. Each is read once."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nmt.store.model_folder import HISTORY
from nmt.store.training_store import TrainingStore
from nmt.training.history import RunStatus, read_run_status
from pipeline.config.folder import ExpectedModel, ExperimentFolder
from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config


@dataclass(frozen=True)
class RunState:
    """The training of a run with the present settings and text.

    model: the model that the training should give; None if no text is prepared.
    folder: the training's folder in the store, with lock and checkpoints; None if the training has not begun.
    finished_model: the folder of the finished model in a store, or None.
    status: how far the training has come, by its history.
    """

    run: Run
    model: ExpectedModel | None
    folder: Path | None
    finished_model: Path | None
    status: RunStatus


class RunStates:
    """The states of the runs of an experiment, by name. Each is read when it is first asked for."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.experiment = ExperimentFolder(config, folder)
        self.runs = collect_runs(config)
        self._states: dict[str, RunState] = {}

    def __getitem__(self, name: str) -> RunState:
        if name not in self._states:
            self._states[name] = self._read_state(self.runs[name])
        return self._states[name]

    def _read_state(self, run: Run) -> RunState:
        """Read the state of a run from the store or, if the store has nothing of it, from the experiment's models."""
        experiment = self.experiment
        model = experiment.find_expected_model(run.name)
        folder, finished_model = None, None
        if model:
            store = TrainingStore(experiment.store, experiment.shared_stores)
            finished_model = store.find_model(model.key)
            # trainings with different ends share the first folder; the second, if it exists, is only for this end
            for state_folder in store.find_state_folders(run.name, model.training_inputs, model.settings):
                if state_folder.is_dir():
                    folder = state_folder

        folder_with_history = folder or finished_model or experiment.model(run.name)
        dev_score = self.config.models[run.model].training.dev_score
        status = _read_status(folder_with_history / HISTORY, dev_score)
        return RunState(run, model, folder, finished_model, status)


def _read_status(history: Path, dev_score: str) -> RunStatus:
    """Return how far a run has come.

    The line on a terminal asks for this every few seconds, so an unchanged file is not read again.
    """
    if not history.exists():
        return RunStatus()
    stat = history.stat()
    return _read_unchanged_status(history, dev_score, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=1000)
def _read_unchanged_status(history: Path, dev_score: str, stamp: tuple[int, ...]) -> RunStatus:
    """Read a history once for each stamp, which only tells the cache whether the file has changed."""
    return read_run_status(history, dev_score)
