"""How far an experiment is, stage by stage and model by model, from its files alone.

Works beside a running experiment, from another machine of a shared file system, and after the end: nothing is locked
or written, and files that are damaged or half-written count as not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tabulate import tabulate

from nmt.config import jobs as stages
from nmt.config.jobs import MODES, Job, Stage
from nmt.config.runs import Run
from nmt.config.schema import Config
from nmt.io.progress import clock
from nmt.monitor.forecast import TrainingLeft, in_words, training_left
from nmt.monitor.job_state import Folder, JobStatus, State, job_status
from nmt.monitor.training_state import TrainingStatus, training_status

StageState = State | str
ENDED = ("done", "outdated")
NEEDED_NO_MORE = "not needed"
"""Of a stage whose files are gone, but whose readers are all done."""


@dataclass(frozen=True)
class StageStatus:
    """A stage at a glance.

    active: its jobs that were begun and are not done; units_per_second: of all running jobs together; seconds_left:
    from the mean time of its finished jobs, as many at a time as run now.
    """

    stage: str
    state: StageState
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
    data: tuple[StageStatus, ...]
    models: tuple[TrainingStatus, ...]
    training_left: TrainingLeft
    results: tuple[ResultStatus, ...]
    report: StageStatus
    sweep: StageStatus
    """Of no concern while it waits: a plain run does not make it."""

    def as_json(self) -> str:
        """All of it as JSON."""
        values = asdict(self) | {"models": [model.as_json() for model in self.models]}
        return json.dumps(_finite(values), indent=2, ensure_ascii=False)


def look(config: Config, path: Path) -> Status:
    """How far the experiment in a folder is."""
    folder = Folder(path)
    runs = stages.runs_in_use(config)
    models = tuple(training_status(folder, config, run) for run in runs.values())
    labels = {model.run: model.label for model in models}
    return Status(
        folder=str(path),
        time=datetime.fromtimestamp(folder.now).astimezone().isoformat(timespec="seconds"),
        data_from=config.data_from,
        data=_data(folder, config),
        models=models,
        training_left=training_left(
            config, path, [model.run for model in models if model.state not in ENDED]
        ),
        results=tuple(_result(folder, config, run, labels[run.name]) for run in runs.values()),
        report=_stage(folder, stages.report(config), {}),
        sweep=_stage(folder, stages.sweep(config), {}),
    )


def _data(folder: Folder, config: Config) -> tuple[StageStatus, ...]:
    found: dict[str, StageStatus] = {}
    known = stages.data_stages(config)
    for stage in reversed(known):  # a stage's readers come after it
        found[stage.name] = _stage(folder, stage, found)
    return tuple(found[stage.name] for stage in known)


def _stage(folder: Folder, stage: Stage, readers: Mapping[str, StageStatus]) -> StageStatus:
    jobs = [job_status(folder, job) for job in stage.jobs]
    running = [job for job in jobs if job.state == "running"]
    units = {job.unit for job in running if job.unit}
    rates = [job.units_per_second for job in running if job.units_per_second]
    done = sum(job.state == "done" for job in jobs)
    return StageStatus(
        stage=stage.name,
        state=_together(jobs, [readers[name].state for name in stage.feeds if name in readers]),
        jobs=len(jobs),
        done=done,
        active=tuple(job for job in jobs if job.state not in ("done", "waiting")),
        units_per_second=sum(rates) if len(units) == 1 else None,
        unit=next(iter(units)) if len(units) == 1 else None,
        seconds_left=_seconds_left(folder, stage.jobs, jobs) if running else None,
    )


def _together(jobs: Sequence[JobStatus], readers: Sequence[StageState]) -> StageState:
    """The state of a stage, by what a reader must know first."""
    states = {job.state for job in jobs}
    if states == {"done"}:
        return "done"
    for state in ("failed", "running", "silent", "stopped", "submitted"):
        if state in states:
            return state
    if readers and all(state in ("done", NEEDED_NO_MORE) for state in readers):
        return NEEDED_NO_MORE
    return "waiting"


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
    lines = folder.tail(folder.path / job.log.replace("logs/", "benchmarks/", 1).replace(".log", ".tsv"))
    try:
        return float(dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=False))["s"])
    except (IndexError, KeyError, ValueError):
        return None


def _result(folder: Folder, config: Config, run: Run, label: str) -> ResultStatus:
    jobs = {f"translate {mode}": stages.translation(run.name, mode) for mode in MODES}
    if stages.knows_alignments(config) and run.name in stages.aligned_runs(config):
        jobs["align"] = stages.alignment(run.name)
    jobs["score"] = stages.scoring(run.name)
    if run.name in stages.packaged_runs(config):
        jobs["package"] = stages.packaging(run.name)
    found = {name: job_status(folder, job) for name, job in jobs.items()}
    scores = _scores(folder.path / jobs["score"].files[0])
    return ResultStatus(run.name, label, found, scores.get("bleu_all"), scores.get("bleu_no_unk"))


def _scores(path: Path) -> dict[str, float]:
    """The two BLEU scores of a run, as far as they can be read."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
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


# --- as a page of text ------------------------------------------------------------------------------------------------


def shown(status: Status) -> str:
    """The status as tables for a terminal."""
    data = f"Data: read from {status.data_from}" if status.data_from else _data_table(status.data)
    parts = [f"{status.folder}, {status.time}", data, _model_table(status.models), _left(status)]
    parts += [_result_table(status), _notes(status)]
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[int] = ()) -> str:
    alignment = ["right" if column in right else "left" for column in range(len(header))]
    table: str = tabulate(rows, header, tablefmt="simple", disable_numparse=True, colalign=alignment)
    return table


def _data_table(data: Sequence[StageStatus]) -> str:
    if all(stage.state in ("done", NEEDED_NO_MORE) for stage in data):
        return "Data: done"
    rows = [
        (
            s.stage,
            s.state,
            f"{s.done:,} of {s.jobs:,}",
            _rate(s.units_per_second, s.unit),
            _time(s.seconds_left),
        )
        for s in data
    ]
    return _table(rows, ("Data", "state", "jobs", "rate", "time left"), right=(2, 3, 4))


def _model_table(models: Sequence[TrainingStatus]) -> str:
    header = ("Training", "state", "updates", "epochs", "updates/s", "words/s", "trained", "time left")
    rows = [_model_row(model) for model in models]
    return _table(rows, (*header, "dev NLL", "best"), right=range(2, 10))


def _left(status: Status) -> str:
    runs = sum(model.state not in ENDED for model in status.models)
    return f"Left to train: {in_words(status.training_left, runs)}" if runs else ""


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


def _result_table(status: Status) -> str:
    columns = list(dict.fromkeys(name for result in status.results for name in result.jobs))
    rows = [
        (
            result.label,
            *(_job(result.jobs.get(name)) for name in columns),
            _number(result.bleu_all, ".2f"),
            _number(result.bleu_no_unk, ".2f"),
        )
        for result in status.results
    ]
    header = ("Results", *columns, "BLEU all", "BLEU no UNK")
    report = [_summary("Tables and figures", status.report)]
    if status.sweep.state != "waiting":
        report.append(_summary("Sweep over decoding", status.sweep))
    table = _table(rows, header, right=(len(header) - 2, len(header) - 1))
    return "\n".join([table, "", *report])


def _summary(name: str, stage: StageStatus) -> str:
    return f"{name}: {stage.state}, {stage.done} of {stage.jobs}"


def _job(job: JobStatus | None) -> str:
    if job is None:
        return ""
    share = f" {job.share:.0%}" if job.share is not None and job.state == "running" else ""
    left = f", {clock(job.seconds_left)} left" if job.seconds_left is not None else ""
    return f"{job.state}{share}{left}"


def _notes(status: Status) -> str:
    """What the tables have no room for: who trains, what is waited for, what went wrong."""
    lines = [f"{model.label}: {model.state}: {model.note}" for model in status.models if model.note]
    for stage in (*status.data, status.report, status.sweep):
        lines += [_note(stage.stage, job) for job in stage.active]
    for result in status.results:
        lines += [
            _note(f"{result.label} {name}", job) for name, job in result.jobs.items() if job.note is not None
        ]
    return "\n".join(lines)


def _note(what: str, job: JobStatus) -> str:
    rate = _rate(job.units_per_second, job.unit)
    share = "" if job.share is None else f"{job.share:.0%}"
    left = "" if job.seconds_left is None else f"{clock(job.seconds_left)} left"
    said = ", ".join(part for part in (share, rate, left, job.note) if part)
    return f"{what} {job.name}: {job.state}{': ' if said else ''}{said}"


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
