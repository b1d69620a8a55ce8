"""The state of a training run, from its state folder, log and finished model. Nothing is written or locked."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nmt.errors import UserError
from nmt.io.files import read_json
from nmt.io.job_progress import JobProgress
from nmt.io.locks import Writer, observe
from nmt.io.progress import clock
from nmt.model.model_folder import HISTORY, SETTINGS
from nmt.settings.flatten import differences, flatten
from nmt.settings.training import ModelRun
from nmt.training.history import Reached, last_update, reached
from pipeline.config.runs import Run, run_settings
from pipeline.config.schema import Config
from pipeline.monitor.job_state import Folder, State
from pipeline.monitor.jobs import Job, JobList

CHECKPOINT = re.compile(r"checkpoint-(\d+)\.json")


@dataclass(frozen=True)
class TrainingStatus:
    """The state of a run.

    updates: its last update (at the latest, with `patience`, or with `epochs` before the first line of its history).
    checkpoint: the update from which it would resume. writer: the process that trains, if there is one. note: an
    explanation.
    """

    run: str
    label: str
    state: State
    updates: int
    patience: int | None
    reached: Reached
    checkpoint: int | None
    seconds_left: float | None
    writer: Writer | None
    note: str | None

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        values = asdict(self)
        return {**values.pop("reached"), **values}


def training_status(folder: Folder, listed: JobList, run: Run) -> TrainingStatus:
    """Return how far a run is."""
    entry = listed.config.models[run.model]
    job = listed.training[run.name]
    state_folder = folder.path / "state" / run.name
    writer, checkpoint = observe(state_folder), last_checkpoint(state_folder)
    state, note = _state(folder, listed, run, checkpoint, writer)
    finished = state in ("done", "outdated")
    source = folder.path / "models" / run.name if finished else state_folder
    told = reached(source / HISTORY, entry.training.dev_score)
    end = last_update(entry.training, told)
    if state == "running" and (told.epoch or entry.training.epochs is None):
        told = _with_progress(told, folder.reading(job), end)
    rate = told.updates_per_second
    return TrainingStatus(
        run=run.name,
        label=label_of(listed.config, run),
        state=state,
        updates=end,
        patience=entry.training.patience,
        reached=told,
        checkpoint=checkpoint,
        seconds_left=max(end - told.update, 0) / rate if rate and not finished else None,
        writer=writer if state == "running" else None,
        note=note,
    )


def label_of(config: Config, run: Run) -> str:
    """Return what people read for a run: the model's label, and the seed where it is not the first."""
    return f"{config.models[run.model].label}{run.name.removeprefix(run.model).replace('.seed-', ', seed ')}"


def _state(
    folder: Folder, listed: JobList, run: Run, checkpoint: int | None, writer: Writer | None
) -> tuple[State, str | None]:
    """Return state and note of a run."""
    job = listed.training[run.name]
    if writer and writer.alive:
        return "running", f"process {writer.process} on {writer.host}"
    if folder.has(job):
        changed = changed_settings(
            folder.path / "models" / run.name / SETTINGS, run_settings(listed.config, run)
        )
        return ("outdated", changed) if changed else ("done", None)
    submitted = _newly_submitted(folder, job)
    reading = folder.reading(job)
    if reading and reading.error and not submitted:
        return "failed", reading.error
    if writer and not writer.dead:
        return "silent", f"process {writer.process} on {writer.host} not heard of for {clock(writer.silence)}"
    if submitted:
        return "submitted", _resumes(checkpoint)
    if checkpoint is not None or writer:
        return "stopped", _resumes(checkpoint)
    return "waiting", _waits_for(folder, listed, run)


def _newly_submitted(folder: Folder, job: Job) -> bool:
    """Return whether Snakemake has begun a job, here or at a scheduler, that has not said a word yet."""
    begun, silence = folder.begun_ago(job), folder.silence(job)
    return folder.attended and begun is not None and (silence is None or silence > begun)


def _resumes(checkpoint: int | None) -> str | None:
    return None if checkpoint is None else f"resumes after update {checkpoint:,}"


def _waits_for(folder: Folder, listed: JobList, run: Run) -> str | None:
    base = listed.training.get(run.base) if run.base else None
    return f"for {run.base}" if base and not folder.has(base) else None


def changed_settings(path: Path, wanted: ModelRun) -> str | None:
    """Return how the settings that a model was trained with differ from those wanted now; None if they don't."""
    try:
        was = ModelRun.model_validate(read_json(path))
    except (OSError, UserError):
        return f"{path.name} cannot be read"
    except ValidationError:
        return f"{path.name} holds no settings"
    return differences(flatten(was.outcome()), flatten(wanted.outcome())) or None


def last_checkpoint(state: Path) -> int | None:
    """Return the update of the last checkpoint."""
    names = [CHECKPOINT.fullmatch(path.name) for path in state.glob("checkpoint-*.json")]
    return max((int(name[1]) for name in names if name), default=None)


def _with_progress(told: Reached, reading: JobProgress | None, updates: int) -> Reached:
    """Return the history's progress, brought up to date by the process's own, which counts from where it began."""
    if reading is None or reading.total is None:
        return told
    update = max(told.update, updates - reading.total + reading.count)
    return replace(told, update=update, updates_per_second=told.updates_per_second or reading.rate or None)
