"""The status of an experiment as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from nmt.io.progress import clock
from pipeline.monitor.forecast import in_words
from pipeline.monitor.job_state import JobStatus
from pipeline.monitor.status import ENDED, StageStatus, Status
from pipeline.monitor.training_state import TrainingStatus


def shown(status: Status) -> str:
    """The status as tables for a terminal."""
    parts = [f"{status.folder}, {status.time}"]
    parts += [f"Data: read from {status.data_from}"] if status.data_from else []
    parts += [_stage_table(status.stages), _model_table(status.models), _left(status)]
    parts += [_result_table(status), _notes(status)]
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[int] = ()) -> str:
    alignment = ["right" if column in right else "left" for column in range(len(header))]
    table: str = tabulate(rows, header, tablefmt="simple", disable_numparse=True, colalign=alignment)
    return table


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
    return _table(rows, ("Stage", "state", "jobs", "rate", "time left"), right=(2, 3, 4))


def _model_table(models: Sequence[TrainingStatus]) -> str:
    if not models:
        return ""
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
    return _table(rows, header, right=(len(header) - 2, len(header) - 1)) if rows else ""


def _job(job: JobStatus | None) -> str:
    if job is None:
        return ""
    share = f" {job.share:.0%}" if job.share is not None and job.state == "running" else ""
    left = f", {clock(job.seconds_left)} left" if job.seconds_left is not None else ""
    return f"{job.state}{share}{left}"


def _notes(status: Status) -> str:
    """What the tables have no room for: who trains, what is waited for, what went wrong."""
    lines = [f"{model.label}: {model.state}: {model.note}" for model in status.models if model.note]
    for stage in status.stages:
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
