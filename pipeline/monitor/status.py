"""How far an experiment is, stage by stage and model by model, from its files alone.

Works beside a running experiment, from another machine of a shared file system, and after the end: nothing is locked
or written, and files that are damaged or half-written count as not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import read_json
from pipeline.config.runs import runs_of
from pipeline.monitor.forecast import TrainingLeft, training_left
from pipeline.monitor.job_state import Folder, JobStatus, State, job_status
from pipeline.monitor.jobs import Job, JobList
from pipeline.monitor.training_state import TrainingStatus, training_status

ENDED = ("done", "outdated")


@dataclass(frozen=True)
class StageStatus:
    """A stage at a glance.

    active: its jobs that were begun and are not done; units_per_second: of all running jobs together; seconds_left:
    from the mean time of its finished jobs, as many at a time as run now.
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
class ResultStatus:
    """What is made with a trained run; BLEU of Table 1's two columns once it is known."""

    run: str
    label: str
    jobs: Mapping[str, JobStatus]
    bleu_all: float | None
    bleu_no_unk: float | None


@dataclass(frozen=True)
class Status:
    """An experiment at a glance."""

    folder: str
    time: str
    data_from: str | None
    stages: tuple[StageStatus, ...]
    """In the order in which data flows, but for those that have a job or more for each run alone."""
    models: tuple[TrainingStatus, ...]
    training_left: TrainingLeft
    results: tuple[ResultStatus, ...]

    def as_json(self) -> str:
        """All of it as JSON."""
        values = asdict(self) | {"models": [model.as_json() for model in self.models]}
        return json.dumps(_finite(values), indent=2, ensure_ascii=False)


def look(listed: JobList, path: Path) -> Status:
    """How far the experiment in a folder is."""
    folder = Folder(path)
    states = job_states(folder, listed)
    known = runs_of(listed.config, list(listed.config.models))
    models = tuple(training_status(folder, listed, known[run]) for run in listed.training if run in known)
    of_runs = [stage for stage, jobs in listed.stages.items() if all(job.run for job in jobs)]
    stages = {stage: jobs for stage, jobs in listed.stages.items() if stage not in of_runs}
    made = [job for stage in of_runs for job in listed.stages[stage] if job.stage != "train"]
    labels = {model.run: model.label for model in models}
    shown = {name: system.label for name, system in listed.config.systems.items()} | labels
    unfinished = [model.run for model in models if model.state not in ENDED]
    return Status(
        folder=str(path),
        time=datetime.fromtimestamp(folder.now).astimezone().isoformat(timespec="seconds"),
        data_from=listed.config.data_from,
        stages=tuple(_stage(folder, stage, jobs, states) for stage, jobs in stages.items()),
        models=models,
        training_left=training_left(listed.config, path, unfinished),
        results=tuple(
            _result(folder, run, shown.get(run, run), [job for job in made if job.run == run], states)
            for run in dict.fromkeys([*labels, *(str(job.run) for job in made)])
        ),
    )


def job_states(folder: Folder, listed: JobList) -> dict[str, JobStatus]:
    """The state of every job by its log; of what is gone, but has been read by all that read it: not needed."""
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
    found = [states[job.log] for job in jobs]
    running = [job for job in found if job.state == "running"]
    units = {job.unit for job in running if job.unit}
    rates = [job.units_per_second for job in running if job.units_per_second]
    return StageStatus(
        stage=name,
        state=_together(found),
        jobs=len(found),
        done=sum(job.state == "done" for job in found),
        active=tuple(job for job in found if job.state not in ("done", "waiting", "not needed")),
        units_per_second=sum(rates) if len(units) == 1 else None,
        unit=next(iter(units)) if len(units) == 1 else None,
        seconds_left=_seconds_left(folder, jobs, found) if running else None,
    )


def _together(jobs: Sequence[JobStatus]) -> State:
    """The state of a stage, by what a reader must know first."""
    states = {job.state for job in jobs}
    order: tuple[State, ...] = (
        "failed",
        "running",
        "silent",
        "stopped",
        "submitted",
        "waiting",
        "not needed",
    )
    return next((state for state in order if state in states), "done")


def _seconds_left(folder: Folder, jobs: Sequence[Job], found: Sequence[JobStatus]) -> float | None:
    """From the mean time of a stage's finished jobs, or from what its only open jobs say of themselves."""
    times = [seconds for job in jobs if (seconds := _seconds_taken(folder, job)) is not None]
    running = [job for job in found if job.state == "running"]
    open_jobs = [job for job in found if job.state != "done"]
    if times:
        shares = sum(1 - (job.share or 0.0) for job in open_jobs)
        return shares * sum(times) / len(times) / len(running)
    told = [job.seconds_left for job in running]
    if len(running) == len(open_jobs) and all(left is not None for left in told):
        return max(left for left in told if left is not None)
    return None


def _seconds_taken(folder: Folder, job: Job) -> float | None:
    """What a finished job took, as Snakemake noted beside its log."""
    path = folder.path / job.log.replace("logs/", "benchmarks/", 1).replace(".log", ".tsv")
    try:
        header, values = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[:2])
        return float(dict(zip(header, values, strict=False))["s"])
    except (OSError, KeyError, ValueError):
        return None


def _result(
    folder: Folder, run: str, label: str, jobs: Sequence[Job], states: Mapping[str, JobStatus]
) -> ResultStatus:
    scores: dict[str, float] = {}
    for job in jobs:
        scores |= _scores(folder.path / job.outputs[0]) if job.rule == "score" else {}
    return ResultStatus(
        run,
        label,
        {_column(job): states[job.log] for job in jobs},
        scores.get("bleu_all"),
        scores.get("bleu_no_unk"),
    )


def _column(job: Job) -> str:
    """The stage, with what tells the jobs of one run apart."""
    return " ".join([job.stage, *(value for name, value in job.wildcards.items() if name != "model")])


def _scores(path: Path) -> dict[str, float]:
    """The two BLEU scores of a run, as far as they can be read."""
    try:
        values = read_json(path)
    except (OSError, UserError):
        return {}
    found = values if isinstance(values, dict) else {}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _finite(value: Any) -> Any:
    """JSON knows no NaN."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
