"""The progress of an experiment by stage and model, from its files alone.

This works beside a running experiment, from another machine of a shared file system, and after the end. Nothing is
locked or written. Damaged and unfinished files count as missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tabulate import tabulate

from nmt.errors import UserError
from nmt.io.files import read_json
from nmt.io.progress import clock
from pipeline.config.runs import runs_of
from pipeline.config.systems import labels_of
from pipeline.monitor.forecast import TrainingLeft, in_words, training_left
from pipeline.monitor.job_state import Folder, JobStatus, State, job_status
from pipeline.monitor.jobs import Job, JobList
from pipeline.monitor.training_state import TrainingStatus, training_status

ENDED = ("done", "outdated")
URGENT: tuple[State, ...] = ("failed", "running", "silent", "stopped", "submitted", "waiting", "not needed")
"""States of jobs in the order in which a reader must know them."""


@dataclass(frozen=True)
class StageStatus:
    """The state of a stage.

    active: its jobs that were begun and are not done. units_per_second: of all running jobs together. seconds_left:
    from the mean time of its finished jobs, with as many at a time as run now.
    """

    stage: str
    state: State
    jobs: int
    done: int
    active: tuple[JobStatus, ...]
    units_per_second: float | None
    unit: str | None
    seconds_left: float | None


@dataclass(frozen=True)
class Status:
    """The state of an experiment. The stages without the training are in the order in which data flows."""

    folder: str
    time: str
    data_from: str | None
    stages: tuple[StageStatus, ...]
    models: tuple[TrainingStatus, ...]
    training_left: TrainingLeft
    scores: Mapping[str, Mapping[str, float]]
    """Numbers in the score files that are there, by the label of model or system."""

    def as_json(self) -> str:
        """Return all of it as JSON."""
        values = asdict(self) | {"models": [model.as_json() for model in self.models]}
        return json.dumps(_finite(values), indent=2, ensure_ascii=False)


def look(listed: JobList, path: Path) -> Status:
    """Return how far the experiment in a folder is."""
    folder = Folder(path)
    states = job_states(folder, listed)
    all_runs = runs_of(listed.config, list(listed.config.models))
    models = tuple(
        training_status(folder, listed, all_runs[run]) for run in listed.training if run in all_runs
    )
    labels = labels_of(listed.config) | {model.run: model.label for model in models}
    unfinished = [model.run for model in models if model.state not in ENDED]
    scored = {str(job.run): _scores(path / job.outputs[0]) for job in listed.jobs if job.rule == "score"}
    return Status(
        folder=str(path),
        time=datetime.fromtimestamp(folder.now).astimezone().isoformat(timespec="seconds"),
        data_from=listed.config.data_from,
        stages=tuple(
            _stage(folder, stage, jobs, states) for stage, jobs in listed.stages.items() if stage != "train"
        ),
        models=models,
        training_left=training_left(listed.config, path, unfinished),
        scores={labels.get(name, name): scores for name, scores in scored.items() if scores},
    )


def job_states(folder: Folder, listed: JobList) -> dict[str, JobStatus]:
    """Return the state of every job by its log. A job without its file is not needed once its readers are done."""
    found: dict[str, JobStatus] = {}
    readers: dict[str, list[str]] = {job.log: [] for job in listed.jobs}
    for job in reversed(listed.ordered):
        state = job_status(folder, job)
        read = readers[job.log] and all(
            found[log].state in ("done", "not needed") for log in readers[job.log]
        )
        found[job.log] = replace(state, state="not needed") if state.state == "waiting" and read else state
        for source in listed.sources[job.log]:
            readers[source].append(job.log)
    return found


def _stage(folder: Folder, name: str, jobs: Sequence[Job], states: Mapping[str, JobStatus]) -> StageStatus:
    of_jobs = [states[job.log] for job in jobs]
    running = [job for job in of_jobs if job.state == "running"]
    units = {job.unit for job in running if job.unit}
    rates = [job.units_per_second for job in running if job.units_per_second]
    return StageStatus(
        stage=name,
        state=next((state for state in URGENT if state in {job.state for job in of_jobs}), "done"),
        jobs=len(of_jobs),
        done=sum(job.state == "done" for job in of_jobs),
        active=tuple(job for job in of_jobs if job.state not in ("done", "waiting", "not needed")),
        units_per_second=sum(rates) if len(units) == 1 else None,
        unit=next(iter(units)) if len(units) == 1 else None,
        seconds_left=_seconds_left(folder, jobs, of_jobs) if running else None,
    )


def _seconds_left(folder: Folder, jobs: Sequence[Job], of_jobs: Sequence[JobStatus]) -> float | None:
    """Return the time left by the mean time of finished jobs, or else by the forecasts of all open jobs."""
    times = [seconds for job in jobs if (seconds := _seconds_taken(folder, job)) is not None]
    running = [job for job in of_jobs if job.state == "running"]
    open_jobs = [job for job in of_jobs if job.state != "done"]
    if times:
        shares = sum(1 - (job.share or 0.0) for job in open_jobs)
        return shares * sum(times) / len(times) / len(running)
    told = [job.seconds_left for job in running if job.seconds_left is not None]
    return max(told) if len(told) == len(open_jobs) else None


def _seconds_taken(folder: Folder, job: Job) -> float | None:
    """Return what a finished job took, as Snakemake noted beside its log."""
    path = folder.path / job.log.replace("logs/", "benchmarks/", 1).replace(".log", ".tsv")
    try:
        header, values = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[:2])
        return float(dict(zip(header, values, strict=False))["s"])
    except (OSError, KeyError, ValueError):
        return None


def _scores(path: Path) -> dict[str, float]:
    """Return the two BLEU scores of a run or system, as far as they can be read."""
    try:
        values = read_json(path)
    except (OSError, UserError):
        return {}
    values = values if isinstance(values, dict) else {}
    names = ("bleu_all", "bleu_no_unk")
    return {name: values[name] for name in names if isinstance(values.get(name), int | float)}


def _finite(value: Any) -> Any:
    """Replace NaN, which JSON does not know, by None."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- as text ----------------------------------------------------------------------------------------------------------


def shown(status: Status) -> str:
    """Return the status as tables for a terminal."""
    parts = [f"{status.folder}, {status.time}"]
    parts += [f"Data: read from {status.data_from}"] if status.data_from else []
    unfinished = sum(model.state not in ENDED for model in status.models)
    left = f"Left to train: {in_words(status.training_left, unfinished)}" if unfinished else ""
    parts += [
        _stage_table(status.stages),
        _model_table(status.models),
        left,
        _score_table(status),
        _notes(status),
    ]
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[Sequence[str]], header: Sequence[str], words: int) -> str:
    """Return a table whose first columns, so many, hold words; nothing without rows."""
    alignment = ["left" if column < words else "right" for column in range(len(header))]
    return (
        tabulate(rows, header, tablefmt="simple", disable_numparse=True, colalign=alignment) if rows else ""
    )


def _stage_table(stages: Sequence[StageStatus]) -> str:
    if all(stage.state in ("done", "not needed") for stage in stages):
        return f"Done: {', '.join(stage.stage for stage in stages)}"
    rows = [
        (
            s.stage,
            s.state,
            f"{s.done:,} of {s.jobs:,}",
            _rate(s.units_per_second, s.unit),
            _time(s.seconds_left),
        )
        for s in stages
    ]
    return _table(rows, ("Stage", "state", "jobs", "rate", "time left"), 2)


def _model_table(models: Sequence[TrainingStatus]) -> str:
    header = ("Training", "state", "updates", "epochs", "updates/s", "words/s", "trained", "time left")
    return _table([_model_row(model) for model in models], (*header, "dev NLL", "best"), 2)


def _model_row(model: TrainingStatus) -> tuple[str, ...]:
    told, share = model.reached, model.reached.update / model.updates
    at_most = "\u2264 " if model.patience and model.seconds_left else ""
    return (
        model.label,
        model.state,
        f"{told.update:,} of {model.updates:,} ({share:.0%})",
        _number(told.epoch, ".2f"),
        _number(told.updates_per_second, ".3g"),
        _number(told.target_words_per_second, ",.0f"),
        _time(told.seconds),
        at_most + _time(model.seconds_left),
        _dev(model, "dev"),
        _dev(model, "best"),
    )


def _dev(model: TrainingStatus, which: str) -> str:
    score = getattr(model.reached, which)
    if score is None:
        return ""
    measure = f"BLEU {score.bleu:.2f}" if score.bleu is not None else f"{score.nll:.2f}"
    return f"{measure} at {score.update:,}"


def _score_table(status: Status) -> str:
    rows = [
        (label, *(_number(scores.get(name), ".2f") for name in ("bleu_all", "bleu_no_unk")))
        for label, scores in status.scores.items()
    ]
    return _table(rows, ("Test set", "BLEU all", "BLEU no UNK"), 1)


def _notes(status: Status) -> str:
    """Return what the tables have no room for: who trains, what is waited for, what went wrong."""
    lines = [f"{model.label}: {model.state}: {model.note}" for model in status.models if model.note]
    return "\n".join([*lines, *(_note(stage.stage, job) for stage in status.stages for job in stage.active)])


def _note(stage: str, job: JobStatus) -> str:
    rate = _rate(job.units_per_second, job.unit)
    share = "" if job.share is None else f"{job.share:.0%}"
    left = "" if job.seconds_left is None else f"{clock(job.seconds_left)} left"
    said = ", ".join(part for part in (share, rate, left, job.note) if part)
    return f"{stage} {job.name}: {job.state}{': ' if said else ''}{said}"


def _rate(per_second: float | None, unit: str | None) -> str:
    if per_second is None or unit is None:
        return ""
    if unit == "bytes":
        return f"{per_second / 1e6:,.1f} MB/s"
    return f"{per_second:,.0f} {unit}/s" if per_second >= 10 else f"{per_second:.2g} {unit}/s"


def _time(seconds: float | None) -> str:
    return "" if seconds is None else clock(seconds)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
