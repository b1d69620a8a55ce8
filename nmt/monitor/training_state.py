"""How far a training run is, from its state folder, its log and its finished model; nothing is written or locked."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nmt.config import jobs
from nmt.config.flatten import differences, flatten
from nmt.config.runs import Run
from nmt.config.schema import Config, ModelRun
from nmt.io.locks import Writer, observe
from nmt.io.progress import clock
from nmt.monitor.job_state import Folder, State

WINDOWS = 20
"""Lines of the history over which the rate is taken."""
CHECKPOINT = re.compile(r"checkpoint-(\d+)\.json")


@dataclass(frozen=True)
class Score:
    """Of the development set after some update: NLL in nats per sentence, BLEU where it is measured."""

    update: int
    nll: float | None
    bleu: float | None


@dataclass(frozen=True)
class Reached:
    """What a history tells: the last update written of, passes, seconds trained, rates, development scores."""

    update: int = 0
    epoch: float | None = None
    seconds: float | None = None
    updates_per_second: float | None = None
    target_words_per_second: float | None = None
    dev: Score | None = None
    best: Score | None = None


@dataclass(frozen=True)
class TrainingStatus:
    """A run at a glance.

    updates: where it ends (at the latest, with `patience`); checkpoint: the update that it would go on from;
    writer: the process that trains, if one does; note: what else there is to say.
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
        """All of it as JSON can hold it."""
        values = asdict(self)
        return {**values.pop("reached"), **values}


def training_status(folder: Folder, config: Config, run: Run) -> TrainingStatus:
    """How far a run is."""
    entry = config.models[run.model]
    state_folder = folder.path / "state" / run.name
    writer, checkpoint = observe(state_folder), last_checkpoint(state_folder)
    state, note = _state(folder, config, run, checkpoint, writer)
    finished = state in ("done", "outdated")
    source = folder.path / "models" / run.name if finished else state_folder
    reached = read_history(source / "history.jsonl", entry.training.dev_score)
    if state == "running":
        reached = _with_log(reached, folder, run, entry.training.updates)
    left = entry.training.updates - reached.update
    rate = reached.updates_per_second
    return TrainingStatus(
        run=run.name,
        label=f"{entry.label}{run.name.removeprefix(run.model).replace('.seed-', ', seed ')}",
        state=state,
        updates=entry.training.updates,
        patience=entry.training.patience,
        reached=reached,
        checkpoint=checkpoint,
        seconds_left=max(left, 0) / rate if rate and not finished else None,
        writer=writer if state == "running" else None,
        note=note,
    )


def _state(
    folder: Folder, config: Config, run: Run, checkpoint: int | None, writer: Writer | None
) -> tuple[State, str | None]:
    """State and note of a run."""
    job = jobs.training(run.name)
    if writer and writer.alive:
        return "running", f"process {writer.process} on {writer.host}"
    if folder.has(job):
        changed = changed_settings(folder.path / "models" / run.name / "settings.json", expected(config, run))
        return ("outdated", changed) if changed else ("done", None)
    submitted = _newly_submitted(folder, job)
    error = folder.error(job)
    if error and not submitted:
        return "failed", error
    if writer and not writer.dead:
        return "silent", f"process {writer.process} on {writer.host} not heard of for {clock(writer.silence)}"
    if submitted:
        return "submitted", _goes_on(checkpoint)
    if checkpoint is not None or writer:
        return "stopped", _goes_on(checkpoint)
    return "waiting", _waits_for(folder, config, run)


def _newly_submitted(folder: Folder, job: jobs.Job) -> bool:
    """Whether Snakemake has begun a job, here or at a scheduler, that has not said a word yet."""
    begun, silence = folder.begun_ago(job), folder.silence(job)
    return folder.attended and begun is not None and (silence is None or silence > begun)


def _goes_on(checkpoint: int | None) -> str | None:
    return None if checkpoint is None else f"goes on after update {checkpoint:,}"


def _waits_for(folder: Folder, config: Config, run: Run) -> str | None:
    if run.base and not folder.has(jobs.training(run.base)):
        return f"for {run.base}"
    return None


def expected(config: Config, run: Run) -> dict[str, Any]:
    """The settings that a run's model is to be trained with, as its settings.json states them."""
    entry = config.models[run.model].model_dump(exclude={"seeds"})
    return ModelRun(model=run.model, seed=run.seed, sample_seed=config.seed, **entry).model_dump()


def changed_settings(path: Path, wanted: Mapping[str, Any]) -> str | None:
    """How the settings that a model was trained with differ from those wanted now; None if they don't."""
    try:
        was = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return f"{path.name} cannot be read"
    if not isinstance(was, dict):
        return f"{path.name} holds no settings"
    return differences(flatten(was), flatten(dict(wanted))) or None


def read_history(path: Path, dev_score: str) -> Reached:
    """What a history tells; lines that are damaged or half-written don't count."""
    reached = Reached()
    window: deque[dict[str, Any]] = deque(maxlen=WINDOWS + 1)
    for line in _records(path):
        if "train_nll" in line:
            window.append(line)
            reached = replace(
                reached, update=line["update"], epoch=line.get("epoch"), seconds=line["seconds"]
            )
        elif _number(line.get("dev_nll")):
            score = Score(line["update"], line["dev_nll"], line.get("dev_bleu"))
            best = reached.best
            better = best is None or _measure(score, dev_score) > _measure(best, dev_score)
            reached = replace(reached, dev=score, best=score if better else best)
    if not window:
        return reached
    words = window[-1].get("target_words_per_second")
    return replace(reached, updates_per_second=_rate(window), target_words_per_second=words)


def _measure(score: Score, dev_score: str) -> float:
    """What is better the greater it is."""
    if dev_score == "bleu" and score.bleu is not None:
        return score.bleu
    return -score.nll if score.nll is not None else float("-inf")


def _rate(window: deque[dict[str, Any]]) -> float | None:
    first = window[0] if len(window) > 1 else {"update": 0, "seconds": 0.0}
    seconds = window[-1]["seconds"] - first["seconds"]
    return (window[-1]["update"] - first["update"]) / seconds if seconds > 0 else None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a history."""
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and _number(record.get("update")) and _number(record.get("seconds")):
                yield record


def _number(value: Any) -> bool:
    return isinstance(value, int | float)


def last_checkpoint(state: Path) -> int | None:
    """The update of the last checkpoint."""
    names = [CHECKPOINT.fullmatch(path.name) for path in state.glob("checkpoint-*.json")]
    return max((int(name[1]) for name in names if name), default=None)


def _with_log(reached: Reached, folder: Folder, run: Run, updates: int) -> Reached:
    """The history's progress, brought up to date by the log, which counts from where its process began."""
    reading = folder.reading(jobs.training(run.name))
    if reading is None or reading.total is None:
        return reached
    update = max(reached.update, updates - reading.total + reading.count)
    rate = reached.updates_per_second or (reading.count / reading.seconds if reading.seconds else None)
    return replace(reached, update=update, updates_per_second=rate)
