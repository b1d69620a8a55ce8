"""Forecasts of the hours of training and the disk space of an experiment, and time limits of training jobs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nmt.settings.model_types import MODEL_TYPES
from pipeline.config.experiment import list_archives
from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config
from pipeline.monitor.run_state import RunStates

TIME_LIMIT_MARGIN = 1.25
"""Factor for the time limit of a job. If the limit is too short, the job must run again; if it is too long, the job
waits longer in the queue."""
OVERHEAD_MINUTES = 30
"""Minutes for the start and for reading, and because jobs stop five minutes before the limit."""

TEXT_PER_ARCHIVE_BYTE = 3.9
"""Bytes of prepared text per byte of archive: raw, clean and tokenized text 0.90, 0.90 and 0.91, selected text 0.47,
scores and language models 0.30, ids 0.4 to 0.6. This was measured on 92 MB of English-French archives, half of whose
words were selected. Archives with more languages need less."""
WEIGHT_COPIES = {"adadelta": 16, "adam": 16, "sgd": 8}
"""Copies of the weights that a run stores, by its optimizer: two checkpoints, the best weights of both, and the final
state and the model, each in store/ and in models/. Adadelta and Adam add two averages to each checkpoint and state."""

Hours = Mapping[str, float | None]
"""run -> hours of training that are left; None if its rate is unknown."""


# --- hours ------------------------------------------------------------------------------------------------------------


def estimate_training_hours(states: RunStates, runs: Iterable[str]) -> Hours:
    """Return the remaining hours of training of each of these runs."""
    return {run: estimate_run_hours(states, run) for run in runs}


def estimate_run_hours(states: RunStates, name: str) -> float | None:
    """Return the remaining hours of a run, at its rate, the rate of a similar run, or the rate in the settings."""
    state = states[name]
    run = state.run

    # 1. the update at which the training starts: 0, or the last update of the run that it continues
    start_update = 0
    if run.base:
        base = states[run.base]
        start_update = base.status.update if base.finished_model else base.planned_updates

    # 2. the updates that are left
    updates = max(0, state.planned_updates - max(state.status.update, start_update))

    # 3. the rate of the run, of the run that it continues, or of the same model with a different seed
    similar_runs = [name]
    if run.base:
        similar_runs.append(run.base)
    similar_runs += [other_run.name for other_run in states.runs.values() if other_run.model == run.model]
    for similar_run in similar_runs:
        updates_per_second = states[similar_run].status.updates_per_second
        if updates_per_second:
            return updates / (3600 * updates_per_second)

    # 4. otherwise the rate in the settings, if there is one
    model_type = states.config.models[run.model].model_type
    configured_rate = states.config.resources.updates_per_hour.get(model_type)
    return updates / configured_rate if configured_rate else None


def describe_hours(states: RunStates, hours: Hours) -> str:
    """Return the hours of all runs: "about 20 hours, or 12 hours all at once"."""
    known_hours = [run_hours for run_hours in hours.values() if run_hours is not None]
    if not known_hours:
        return "hours unknown until a rate is measured, or set in resources.updates_per_hour"

    text = f"about {format_hours(sum(known_hours))}"
    if len(known_hours) > 1:
        text += f", or {format_hours(estimate_parallel_hours(states, hours))} all at once"
    unknown_count = len(hours) - len(known_hours)
    if unknown_count:
        text += f", and {unknown_count} for unknown hours"
    return text


def format_hours(hours: float | None) -> str:
    """Return a duration as minutes or hours, with few digits, since forecasts are not exact: "45 min", "3.2 hours"."""
    if hours is None:
        return "unknown"
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:,.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def estimate_parallel_hours(states: RunStates, hours: Hours) -> float:
    """Return the hours until all runs are trained if each has its own processor.

    A run that continues another one starts when the other one ends. Unknown hours count as 0.
    """
    hours_until_trained = []
    for run, run_hours in hours.items():
        base = states.runs[run].base  # the base itself continues no other run
        waiting_hours = hours.get(base) if base else None
        hours_until_trained.append((waiting_hours or 0.0) + (run_hours or 0.0))
    return max(hours_until_trained, default=0.0)


# --- time limits of jobs ----------------------------------------------------------------------------------------------


def request_training_minutes(config: Config, run: Run) -> int:
    """Return the time limit of a training job: its remaining minutes with a margin, at most resources.train_hours."""
    max_minutes = 60 * config.resources.train_hours
    hours = estimate_run_hours(RunStates(config, Path()), run.name)
    minutes = max_minutes if hours is None else OVERHEAD_MINUTES + TIME_LIMIT_MARGIN * 60 * hours
    return max(1, math.ceil(min(minutes, max_minutes)))


def count_training_retries(config: Config, runs: Iterable[Run]) -> int:
    """Return how often a training job may be submitted again.

    A training continues in a new job after each time limit. The number suffices for the longest of the runs at half
    the expected rate (if a rate is known), and for `train_attempts` jobs that are lost.
    """
    hours = estimate_training_hours(RunStates(config, Path()), [run.name for run in runs])
    max_hours = max(run_hours or 0.0 for run_hours in hours.values())
    job_count = math.ceil(2 * max_hours / config.resources.train_hours)
    return job_count + config.resources.train_attempts


# --- disk -------------------------------------------------------------------------------------------------------------


def estimate_disk_bytes(
    config: Config, archives: Iterable[str], corpora: Sequence[str], runs: Iterable[str]
) -> int:
    """Return the bytes of archives to download, text to prepare and models to train.

    Archives of unknown size count as 0.
    """
    all_runs = collect_runs(config)
    weight_bytes = 0
    for run in runs:
        model = config.models[all_runs[run].model]
        weight_count = MODEL_TYPES[model.model_type].estimate_weights(
            model.architecture, config.vocabulary.sizes
        )
        weight_bytes += 4 * WEIGHT_COPIES[model.training.optimizer] * weight_count  # a weight has 32 bits
    text_bytes = round(TEXT_PER_ARCHIVE_BYTE * _count_source_bytes(config, corpora))
    return _count_archive_bytes(config, archives) + text_bytes + weight_bytes


def _count_archive_bytes(config: Config, archives: Iterable[str]) -> int:
    return sum(config.archives[archive].bytes or 0 for archive in archives)


def _count_source_bytes(config: Config, corpora: Sequence[str]) -> int:
    """Return the bytes of the archives and of the user's own files from which these corpora come."""
    total = _count_archive_bytes(config, list_archives(config, corpora))
    for corpus in corpora:
        for side in config.corpora[corpus].sides.values():
            if side.file and Path(side.file).is_file():
                total += Path(side.file).stat().st_size
    return total
