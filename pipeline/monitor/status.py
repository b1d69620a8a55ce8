"""The trainings of an experiment, from their files alone: what runs, how far, when it will be done, what failed.

This works beside a running experiment, from another machine of a shared file system, and after the end. Nothing is
locked or written.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from tabulate import tabulate

from nmt.errors import UserError
from nmt.io import progress
from nmt.io.locks import read_holder
from nmt.io.progress import LOG_SECONDS, format_duration
from nmt.settings.base import read_settings
from nmt.store.model_folder import WEIGHTS
from nmt.training.history import DevScore, RunStatus, count_planned_updates, read_run_status
from pipeline.config.folder import RUN_SETTINGS, ExperimentFolder
from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config
from pipeline.monitor.forecast import estimate_training_times, in_words

CHECKPOINT = re.compile(r"checkpoint-(\d+)\.safetensors")
HEADER = ("Training", "state", "updates", "done", "left", "dev NLL", "best")


@dataclass(frozen=True)
class TrainingStatus:
    """The state of a run: done, outdated, running, silent, failed, stopped or waiting.

    outdated: finished with other settings or text. silent: its writer has not been heard of for a minute. updates: the
    last update, or an earlier one once its `epochs` are known. checkpoint: the update from which it resumes. note: why.
    """

    run: str
    label: str
    state: str
    updates: int
    reached: RunStatus
    checkpoint: int | None
    note: str | None = None

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds until the last update, at the rate of the last lines of its history."""
        rate = self.reached.updates_per_second
        unfinished = self.state not in ("done", "outdated")
        return max(self.updates - self.reached.update, 0) / rate if rate and unfinished else None


def read_last_settings(folder: Path) -> Config:
    """Return the settings of the last run in a folder; those of its config.yaml, where there was none that is known."""
    try:
        return read_settings(Config, folder / RUN_SETTINGS)
    except UserError:
        with chdir(folder):  # `data_from` is relative to it
            return load_config(find_layers(Path()))


def read_training_status(config: Config, folder: Path, run: Run) -> TrainingStatus:
    """Return how far a run is."""
    entry, files = config.models[run.model], ExperimentFolder(config, folder)
    state, model = files.find_training_state(run.name), files.model(run.name)
    progress_record = progress.read_progress(files.training_progress(run.name))
    checkpoints = [CHECKPOINT.fullmatch(path.name) for path in state.glob("checkpoint-*")] if state else []
    checkpoint = max((int(name[1]) for name in checkpoints if name), default=None)
    writer, note = read_holder(state) if state else None, None
    finished = files.find_finished_model(run.name) is not None
    if writer and not writer.process:  # a lock that cannot be read is a dead one
        writer = None
    if writer and writer.is_alive:
        word, note, finished = "running", f"process {writer.process} on {writer.host}", False
    elif finished:
        word = "done"
    elif progress_record and progress_record.error:
        word, note = "failed", progress_record.error
    elif writer and not writer.is_dead:
        word = "silent"
        note = f"process {writer.process} on {writer.host} not heard of for {format_duration(writer.seconds_silent)}"
    elif checkpoint is not None or writer:
        word, note = "stopped", f"resumes after update {checkpoint or 0:,}"
    elif (model / WEIGHTS).is_file():
        word, note = "outdated", "models/ has the model of other settings or text"
    else:
        word = "waiting"
    progressed = read_run_status(files.find_history(run.name), entry.training.dev_score)
    end = count_planned_updates(entry.training, progressed.update, progressed.epoch)
    end_is_known = progressed.epoch or entry.training.epochs is None
    if word == "running" and progress_record and progress_record.total and end_is_known:
        update = max(progressed.update, progress_record.count)  # more recent than the history
        rate = progressed.updates_per_second or progress_record.rate or None
        progressed = replace(progressed, update=update, updates_per_second=rate)
    return TrainingStatus(run.name, format_run_label(config, run), word, end, progressed, checkpoint, note)


def format_run_label(config: Config, run: Run) -> str:
    """Return what people read for a run: the model's label, and the seed where it is not the first."""
    return f"{config.models[run.model].label}{run.name.removeprefix(run.model).replace('.seed-', ', seed ')}"


def format_status_table(config: Config, folder: Path) -> str:
    """Return a table of the trainings, then the hours left, what other jobs do, and what failed."""
    runs = collect_runs(config, config.use.models)
    trainings = [read_training_status(config, folder, run) for run in runs.values()]
    rows = tabulate([_row(one) for one in trainings], HEADER, disable_numparse=True, colalign=_ALIGNED)
    unfinished = [one.run for one in trainings if one.state not in ("done", "outdated")]
    left = in_words(config, estimate_training_times(config, folder, unfinished)) if unfinished else ""
    notes = [f"{one.label}: {one.state}: {one.note}" for one in trainings if one.note]
    notes += former_trainings(config, folder)
    parts = [str(folder), rows if trainings else "", left and f"Left to train: {left}", "\n".join(notes)]
    text = "\n\n".join(filter(None, [*parts, "\n".join(_other_jobs(folder))]))
    # files may be somebody else's, and a terminal obeys control characters
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def former_trainings(config: Config, folder: Path) -> Iterator[str]:
    """Yield a line for each training in the store that the present settings do not use, with its size."""
    files = ExperimentFolder(config, folder)
    used = {files.find_training_state(run) for run in collect_runs(config, list(config.models))}
    for state in sorted((files.store / "trainings").glob("*")):
        if state not in used:
            size = sum(file.stat().st_size for file in state.rglob("*") if file.is_file())
            yield f"{state}: not used by these settings, {size / 1e6:,.0f} MB"


_ALIGNED = ("left", "left", *["right"] * (len(HEADER) - 2))


def _row(one: TrainingStatus) -> tuple[str, ...]:
    left = "" if one.seconds_left is None else format_duration(one.seconds_left)
    updates, share = f"{one.reached.update:,}/{one.updates:,}", f"{one.reached.update / one.updates:.0%}"
    return (one.label, one.state, updates, share, left, *map(_dev, (one.reached.dev, one.reached.best)))


def _dev(score: DevScore | None) -> str:
    if score is None:
        return ""
    return f"BLEU {score.bleu:.2f}" if score.bleu is not None else f"{score.nll:.2f}"


def _other_jobs(folder: Path) -> Iterator[str]:
    """Yield a line for each job besides training that works, or whose last attempt failed."""
    for path in sorted((folder / "logs").glob("**/*.progress.json")):
        stage, name = path.parent.name, path.name.removesuffix(".progress.json")
        noted = progress.read_progress(path)
        if stage == "train" or noted is None:
            continue
        if noted.error:
            yield f"{stage} {name}: failed: {noted.error}"
        elif noted.count != noted.total and time.time() - path.stat().st_mtime < 3 * LOG_SECONDS:
            share = f"{noted.count / noted.total:.0%}, " if noted.total else ""
            yield f"{stage} {name}: {share}{noted.count:,} {noted.unit}"
