"""The status of the trainings of an experiment, from their files alone: state, progress, time left, errors.

This works during a run, from another machine that shares the file system, and after the end. It locks and writes
nothing.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from tabulate import tabulate

from nmt.errors import UserError, printable
from nmt.evaluation.attention import ATTENTION_HEADERS, format_attention
from nmt.evaluation.translations import provenance_path, read_provenance
from nmt.io import progress
from nmt.io.locks import read_holder
from nmt.io.progress import format_duration
from nmt.settings.base import read_settings
from nmt.store.model_folder import HISTORY, WEIGHTS, read_model_key
from nmt.training.history import DevScore, RunStatus, count_planned_updates, read_run_status
from pipeline.config.folder import RUN_SETTINGS, is_of_last_run
from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import format_run_label, get_labels, list_trained_runs
from pipeline.config.schema import Config
from pipeline.monitor.forecast import describe_training_times, estimate_training_times
from pipeline.monitor.run_state import RunStates
from pipeline.monitor.submitted_jobs import find_submitted_trainings

CHECKPOINT_NAME = re.compile(r"checkpoint-(?P<update>\d+)\.safetensors")
HEADER = ("Training", "state", "updates", "done", "left", "dev NLL", "best")
FINAL_STATES = ("done", "outdated", "unknown")


@dataclass(frozen=True)
class TrainingStatus:
    """The status of a run.

    Attributes:
        label: the name of the run for people.
        state: done; outdated (finished with other settings or text); unknown (finished, but without the text nobody
            can tell with which settings); running; silent (its process has given no sign of life for a minute); failed;
            stopped; or waiting.
        planned_updates: the number of the last update. If the training ends after some epochs, this is an upper limit
            until their length is known.
        progress: the update, rate and scores until now.
        checkpoint_update: the update from which the training can resume.
        note: the reason for the state.
    """

    label: str
    state: str
    planned_updates: int
    progress: RunStatus
    checkpoint_update: int | None
    note: str | None = None

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the last update, at the rate of the last lines of the history; None if it is unknown."""
        rate = self.progress.updates_per_second
        if not rate or self.state in FINAL_STATES:
            return None
        return max(self.planned_updates - self.progress.update, 0) / rate


def read_last_settings(folder: Path) -> Config:
    """Return the settings of the last run in a folder or, if they cannot be read, the settings in its config.yaml."""
    try:
        return read_settings(Config, folder / RUN_SETTINGS)
    except UserError:
        with chdir(folder):  # the path `data_from` is relative to it
            return load_config(find_layers(Path()))


def read_training_status(states: RunStates, name: str) -> TrainingStatus:
    """Return the status of a run."""
    experiment = states.experiment
    run_state = states[name]
    run = run_state.run
    status = run_state.status
    entry = states.config.models[run.model]
    model_folder = experiment.model(run.name)
    progress_file = experiment.training_progress(run.name)
    job_progress = progress.read_progress(progress_file)

    # 1. the folder of its training in the store: the last checkpoint, and the process that holds the lock
    state_folder = run_state.folder
    checkpoint_update = _find_checkpoint_update(state_folder) if state_folder else None
    holder = read_holder(state_folder) if state_folder else None
    if holder and not holder.process:  # a damaged lock holds nothing
        holder = None

    # 2. the state and the reason for it
    note = None
    if holder and holder.is_alive:
        state, note = "running", f"process {holder.process} on {holder.host}"
    elif run_state.finished_model is not None:
        state = "done"
    elif run_state.model and _read_key(model_folder) == run_state.model.key:  # only the store is gone
        state, status = "done", read_run_status(model_folder / HISTORY, entry.training.dev_score)
    elif job_progress and job_progress.error and is_of_last_run(progress_file, experiment.folder):
        state, note = "failed", job_progress.error
    elif holder and not holder.is_dead:
        silence = format_duration(holder.seconds_silent)
        state, note = "silent", f"process {holder.process} on {holder.host} not heard of for {silence}"
    elif checkpoint_update is not None or holder:
        state, note = "stopped", f"resumes after update {checkpoint_update or 0:,}"
    elif (model_folder / WEIGHTS).is_file() and run_state.model:
        state, note = "outdated", "the model in models/ was trained with different settings or text"
    elif (model_folder / WEIGHTS).is_file():
        state, note = "unknown", "settings not known: the text in data/ or the model init_from is missing"
    else:
        state = "waiting"

    # 3. the progress; a running job writes its progress file more often than the history
    planned_updates = count_planned_updates(entry.training, status.updates_per_epoch)
    if state == "running" and job_progress and job_progress.total:
        planned_updates = job_progress.total
        status = replace(
            status,
            update=max(status.update, job_progress.count),
            updates_per_second=status.updates_per_second or job_progress.rate or None,
        )
    return TrainingStatus(
        label=format_run_label(run.name, {run.model: entry.label}),
        state=state,
        planned_updates=planned_updates,
        progress=status,
        checkpoint_update=checkpoint_update,
        note=note,
    )


def _read_key(model_folder: Path) -> str | None:
    """Return the key of a model in models/; None if there is no model."""
    try:
        return read_model_key(model_folder)
    except UserError:
        return None


def _find_checkpoint_update(state_folder: Path) -> int | None:
    """Return the update of the last checkpoint in the folder of a training."""
    matches = [CHECKPOINT_NAME.fullmatch(path.name) for path in state_folder.glob("checkpoint-*")]
    return max((int(match["update"]) for match in matches if match), default=None)


def format_status_table(config: Config, folder: Path) -> str:
    """Return the table of the trainings, and below it the attention, the hours left and notes."""
    rows: list[tuple[str, ...]] = []
    finished_runs: list[str] = []
    unfinished_runs: list[str] = []
    notes: list[str] = []
    submitted_trainings = find_submitted_trainings(folder)
    states = RunStates(config, folder)
    for name in list_trained_runs(config):
        training = read_training_status(states, name)
        rows.append(_format_row(training))
        if training.state == "done":
            finished_runs.append(name)
        elif training.state not in FINAL_STATES:
            unfinished_runs.append(name)
        note = submitted_trainings.get(name, training.note)
        if note:
            notes.append(f"{training.label}: {training.state}: {note}")
    notes += _describe_unused_trainings(states)

    # the paragraphs in their order
    alignment = ("left", "left", "right", "right", "right", "right", "right")
    paragraphs = [str(folder), tabulate(rows, HEADER, disable_numparse=True, colalign=alignment)]
    attention_table = _format_attention_table(states, finished_runs)
    if attention_table:
        paragraphs.append(attention_table)
    if unfinished_runs:
        training_times = estimate_training_times(states, unfinished_runs)
        paragraphs.append(f"Left to train: {describe_training_times(states, training_times)}")
    if notes:
        paragraphs.append("\n".join(notes))

    # A terminal would act on the control characters that a file of another user may have.
    lines = "\n\n".join(paragraphs).split("\n")
    return "\n".join(map(printable, lines))


def _format_attention_table(states: RunStates, runs: Sequence[str]) -> str:
    """Return a table of the attention of the runs that have translated the test set, or "" if none has attention."""
    labels = get_labels(states.config)
    rows: list[list[str]] = []
    for run in runs:
        translations = states.experiment.translations("test", run, "all")
        if not provenance_path(translations).is_file():
            continue
        statistics = read_provenance(translations).get("attention")
        if statistics:
            rows.append([format_run_label(run, labels), *format_attention(statistics)])
    if not rows:
        return ""
    headers = ("Attention", *ATTENTION_HEADERS.values())
    table: str = tabulate(
        rows, headers, disable_numparse=True, colalign=("left", "right", "right", "right", "right")
    )
    return table


def _describe_unused_trainings(states: RunStates) -> Iterator[str]:
    """Yield a line for each training in the store that the present settings do not use, with its size."""
    if any(states[run].model is None for run in states.runs):
        return  # the text is not prepared, so nobody knows which trainings are used
    used_folders = {states[run].folder for run in states.runs}
    for state_folder in sorted((states.experiment.store / "trainings").glob("*")):
        if state_folder in used_folders:
            continue
        size = sum(path.stat().st_size for path in state_folder.rglob("*") if path.is_file())
        yield f"{state_folder}: not used by these settings, {size / 1e6:,.0f} MB"


def _format_row(training: TrainingStatus) -> tuple[str, ...]:
    """Return the cells of a training in the table, in the order of `HEADER`."""
    update = training.progress.update
    # a model that keeps its initial weights has no updates
    fraction_done = update / training.planned_updates if training.planned_updates else 1
    return (
        training.label,
        training.state,
        f"{update:,}/{training.planned_updates:,}",
        f"{fraction_done:.0%}",
        "" if training.seconds_left is None else format_duration(training.seconds_left),
        _format_dev_score(training.progress.dev),
        _format_dev_score(training.progress.best),
    )


def _format_dev_score(score: DevScore | None) -> str:
    if score is None:
        return ""
    return f"BLEU {score.bleu:.2f}" if score.bleu is not None else f"{score.nll:.2f}"
