"""The status of the trainings of an experiment, from their files alone: state, progress, time left, errors.

This works during a run, from another machine that shares the file system, and after the end. It locks and writes
nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import replace
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
from nmt.training.history import DevScore, count_planned_updates, read_run_status
from pipeline.config.folder import RUN_SETTINGS, ExpectedModel, is_of_last_run
from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import format_run_label, get_labels, list_trained_runs
from pipeline.config.schema import Config
from pipeline.monitor.forecast import describe_hours, estimate_training_hours
from pipeline.monitor.run_state import RunState, RunStates
from pipeline.monitor.submitted_jobs import find_submitted_trainings

HEADER = ("Training", "state", "updates", "done", "left", "dev NLL", "best")
FINAL_STATES = ("done", "outdated", "unknown")


def read_last_settings(folder: Path) -> Config:
    """Return the settings of the last run in a folder or, if they cannot be read, the settings in its config.yaml."""
    try:
        return read_settings(Config, folder / RUN_SETTINGS)
    except UserError:
        with chdir(folder):  # the path `data_from` is relative to it
            return load_config(find_layers(Path()))


def find_training_state(states: RunStates, name: str) -> tuple[str, str | None]:
    """Return the state of a training, and the reason for it if there is something to say.

    The states are done; outdated (finished with other settings or text); unknown (finished, but without the text nobody
    can tell with which settings); running; silent (its process has given no sign of life for a minute); failed;
    stopped; and waiting.
    """
    run_state = states[name]
    model_folder = states.experiment.model(name)
    progress_file = states.experiment.training_progress(name)
    job_progress = progress.read_progress(progress_file)
    holder = read_holder(run_state.folder) if run_state.folder else None
    if holder and not holder.process:  # a damaged lock holds nothing
        holder = None

    if holder and holder.is_alive:
        return "running", f"process {holder.process} on {holder.host}"
    # the model may be in models/ alone, if the store was deleted
    if run_state.finished_model or _has_model(model_folder, run_state.model):
        return "done", None
    if job_progress and job_progress.error and is_of_last_run(progress_file, states.experiment.folder):
        return "failed", job_progress.error
    if holder and not holder.is_dead:
        silence = format_duration(holder.seconds_silent)
        return "silent", f"process {holder.process} on {holder.host} not heard of for {silence}"
    if run_state.checkpoint_update is not None or holder:
        return "stopped", f"resumes after update {run_state.checkpoint_update or 0:,}"
    if not (model_folder / WEIGHTS).is_file():
        return "waiting", None
    if run_state.model:
        return "outdated", "the model in models/ was trained with different settings or text"
    return "unknown", "settings not known: the text in data/ or the model init_from is missing"


def _add_job_progress(run_state: RunState, progress_file: Path) -> RunState:
    """Return a running training with the updates of its progress file, which is written more often than the history."""
    job_progress = progress.read_progress(progress_file)
    if not job_progress or not job_progress.total:
        return run_state
    status = replace(
        run_state.status,
        update=max(run_state.status.update, job_progress.count),
        updates_per_second=run_state.status.updates_per_second or job_progress.rate or None,
    )
    return replace(run_state, status=status, planned_updates=job_progress.total)


def _add_model_history(states: RunStates, name: str) -> RunState:
    """Return a finished training with the history next to its model, since its folder in the store was deleted."""
    run_state = states[name]
    training = states.config.models[run_state.run.model].training
    status = read_run_status(states.experiment.model(name) / HISTORY, training.dev_score)
    planned_updates = count_planned_updates(training, status.updates_per_epoch)
    return replace(run_state, status=status, planned_updates=planned_updates)


def _has_model(model_folder: Path, model: ExpectedModel | None) -> bool:
    """Return whether the folder of a finished model has this model. None: nobody knows which one it should be."""
    try:
        return model is not None and read_model_key(model_folder) == model.key
    except UserError:
        return False


def format_status_table(config: Config, folder: Path) -> str:
    """Return the table of the trainings, and below it the attention, the hours left and notes."""
    rows: list[tuple[str, ...]] = []
    finished_runs: list[str] = []
    unfinished_runs: list[str] = []
    notes: list[str] = []
    submitted_trainings = find_submitted_trainings(folder)
    states = RunStates(config, folder)
    for name in list_trained_runs(config):
        run_state = states[name]
        label = format_run_label(name, {run_state.run.model: config.models[run_state.run.model].label})
        state, reason = find_training_state(states, name)
        if state == "running":
            run_state = _add_job_progress(run_state, states.experiment.training_progress(name))
        elif state == "done" and not run_state.finished_model:
            run_state = _add_model_history(states, name)
        rows.append(_format_row(label, state, run_state))
        if state == "done":
            finished_runs.append(name)
        elif state not in FINAL_STATES:
            unfinished_runs.append(name)
        note = submitted_trainings.get(name, reason)
        if note:
            notes.append(f"{label}: {state}: {note}")
    notes += _describe_unused_trainings(states)

    # the paragraphs in their order
    alignment = ("left", "left", "right", "right", "right", "right", "right")
    paragraphs = [str(folder), tabulate(rows, HEADER, disable_numparse=True, colalign=alignment)]
    attention_table = _format_attention_table(states, finished_runs)
    if attention_table:
        paragraphs.append(attention_table)
    if unfinished_runs:
        hours = estimate_training_hours(states, unfinished_runs)
        paragraphs.append(f"Left to train: {describe_hours(states, hours)}")
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


def _format_row(label: str, state: str, run_state: RunState) -> tuple[str, ...]:
    """Return the cells of a training in the table, in the order of `HEADER`."""
    status, planned_updates = run_state.status, run_state.planned_updates
    # a model that keeps its initial weights has no updates
    fraction_done = status.update / planned_updates if planned_updates else 1
    time_left = ""
    if status.updates_per_second and state not in FINAL_STATES:
        remaining_updates = max(planned_updates - status.update, 0)
        time_left = format_duration(remaining_updates / status.updates_per_second)
    return (
        label,
        state,
        f"{status.update:,}/{planned_updates:,}",
        f"{fraction_done:.0%}",
        time_left,
        _format_dev_score(status.dev),
        _format_dev_score(status.best),
    )


def _format_dev_score(score: DevScore | None) -> str:
    if score is None:
        return ""
    return f"BLEU {score.bleu:.2f}" if score.bleu is not None else f"{score.nll:.2f}"
