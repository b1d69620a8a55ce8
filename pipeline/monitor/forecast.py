"""Forecasts of an experiment's hours of training and its disk space, and the time limits of training jobs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from nmt.training.history import count_planned_updates, read_run_status
from pipeline.config.experiment import list_archives
from pipeline.config.folder import ExperimentFolder
from pipeline.config.runs import Run, collect_runs
from pipeline.config.schema import Config

MARGIN = 1.25
"""Factor for the time limit. With too short a limit, a job must run once more; with too long a one, it waits longer."""
OVERHEAD_MINUTES = 30
"""Minutes for the start, for reading, and because jobs stop five minutes early."""

CARD, CARD_TERAFLOPS = "H100", 67
REACHED: dict[ModelTypeName, float] = {"rnnsearch": 48, "rnnencdec": 55, "grconv": 40, "lstm": 63}
"""10^12 operations per second of an update on an H100, measured with PyTorch 2.11 in TF32 with fused steps: 13.5 and
8.4 ms with 80 pairs of 31 positions, gated recursive convolution 29.6 ms, deep LSTM 21.4 ms
(its batches of 128 pairs should take less for a pair)."""

TEXT_PER_ARCHIVE_BYTE = 3.9
"""Bytes of prepared text per byte of archive: raw, clean and tokenized text 0.90, 0.90 and 0.91, selected text 0.47,
scores and language models 0.30, ids 0.4 to 0.6. This was measured on 92 MB of English-French archives, half of whose
words were selected. Archives with more languages need less."""
STATE_COPIES = 12
"""Copies of the weights that a run stores: two checkpoints and the final state with two averages of the optimizer each,
the best weights of both checkpoints, the model."""

MEASURED, STATED, ASSUMED = "measured here", "resources.updates_per_hour", f"measured on an {CARD}"


# --- hours ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainingTime:
    """The remaining training of a run. source: where the rate comes from."""

    run: str
    updates: int
    updates_per_hour: float
    source: str

    @property
    def hours(self) -> float:
        """Return the hours of training at this rate."""
        return self.updates / self.updates_per_hour


def estimate_training_times(config: Config, folder: Path, runs: Iterable[str]) -> list[TrainingTime]:
    """Return what is left of these runs."""
    all_runs = collect_runs(config, list(config.models))
    return [training_time(config, all_runs[name], folder) for name in runs]


def training_time(config: Config, run: Run, folder: Path) -> TrainingTime:
    """Return what is left of a run at its own rate, that of its base, or of another seed, else that of the settings."""
    entry, all_runs = config.models[run.model], collect_runs(config, list(config.models))
    files = ExperimentFolder(config, folder)
    history, begun = read_run_status(files.find_history(run.name)), 0
    if run.base:
        base = read_run_status(files.find_history(run.base))
        finished = files.find_finished_model(run.base) is not None
        training = config.models[all_runs[run.base].model].training
        begun = base.update if finished else count_planned_updates(training, base.update, base.epoch)
    left = max(
        0, count_planned_updates(entry.training, history.update, history.epoch) - max(history.update, begun)
    )
    seeds = (name for name, other in all_runs.items() if other.model == run.model)
    for other in filter(None, [run.name, run.base, *seeds]):
        if rate := read_run_status(files.find_history(other)).updates_per_second:
            return TrainingTime(run.name, left, 3600 * rate, MEASURED)
    source = STATED if entry.model_type in config.resources.updates_per_hour else ASSUMED
    return TrainingTime(run.name, left, estimate_updates_per_hour(config, run.model), source)


def estimate_updates_per_hour(config: Config, model: str) -> float:
    """Return the updates per hour that the settings state for the model type, else what an H100 reached.

    That is scaled by the operations of an update, and by what the data sheets say of the two cards.
    """
    entry, resources = config.models[model], config.resources
    stated = resources.updates_per_hour.get(entry.model_type)
    speed = 1e12 * REACHED[entry.model_type] * resources.gpu_teraflops / CARD_TERAFLOPS
    # mean positions of a batch of real text: 31 where sentences have up to 50 words, 23 up to 30
    return stated or 3600 * speed / operations(config, model, 11 + 0.4 * min(entry.max_words, 60))


def operations(config: Config, model: str, positions: float) -> float:
    """Return operations of an update with so many positions a sentence, accurate to about a quarter.

    At every position, each weight but the embeddings' takes part in a product, of two operations, and in two more on
    the way back.
    """
    entry = config.models[model]
    words = config.vocabulary.sizes
    weights = MODEL_TYPES[entry.model_type].weights(entry.architecture, words)
    in_products = weights - sum(words) * entry.architecture.embedding_size
    return 6.0 * entry.training.batch_size * positions * in_products


def in_words(config: Config, times: Collection[TrainingTime]) -> str:
    """Return hours of training as a piece of a line, with where they come from."""
    hours, chain = sum(time.hours for time in times), estimate_parallel_hours(config, times)
    together = f", {format_hours(chain)} if all at once" if len(times) > 1 else ""
    sources = "; ".join(dict.fromkeys(time.source for time in times))
    return f"{format_hours(hours)}{together} ({sources})"


def format_hours(hours: float) -> str:
    """Return hours as minutes or hours, as precisely as a forecast deserves."""
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:,.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def estimate_parallel_hours(config: Config, times: Collection[TrainingTime]) -> float:
    """Return the hours until all are trained with a processor for each. A run that continues another waits for it."""
    all_runs, hours = collect_runs(config, list(config.models)), {time.run: time.hours for time in times}
    return max((hours[run] + hours.get(all_runs[run].base or "", 0.0) for run in hours), default=0.0)


# --- time limits of jobs ----------------------------------------------------------------------------------------------


def request_training_minutes(config: Config, run: Run, folder: Path) -> int:
    """Return the minutes that a training job asks for: its remaining hours with a margin, at most the longest limit."""
    minutes = OVERHEAD_MINUTES + MARGIN * 60 * training_time(config, run, folder).hours
    return max(1, math.ceil(min(minutes, 60 * config.resources.train_hours)))


def count_training_retries(config: Config, runs: Iterable[Run]) -> int:
    """Return how often a training job is sent again: for each slice of its time at half the rate, and when lost."""
    longest = config.resources.train_hours
    models = {run.model for run in runs}
    hours = max(
        config.models[model].training.updates / estimate_updates_per_hour(config, model) for model in models
    )
    return math.ceil(2 * hours / longest) + config.resources.train_attempts


# --- disk -------------------------------------------------------------------------------------------------------------


def estimate_disk_bytes(
    config: Config, folder: Path, archives: Iterable[str], corpora: Iterable[str], runs: Iterable[str]
) -> dict[str, int]:
    """Return the bytes of archives to fetch, text to prepare and models to train. Archives of unknown size count 0."""
    all_runs = collect_runs(config, list(config.models))
    models = [config.models[all_runs[run].model] for run in runs]
    weights = [
        MODEL_TYPES[model.model_type].weights(model.architecture, config.vocabulary.sizes) for model in models
    ]
    return {
        "archives": sum(config.archives[archive].bytes or 0 for archive in archives),
        "text": round(TEXT_PER_ARCHIVE_BYTE * _source_bytes(config, folder, list(corpora))),
        "models": 4 * STATE_COPIES * sum(weights),
    }


def _source_bytes(config: Config, folder: Path, corpora: Sequence[str]) -> int:
    """Return the bytes of the archives, and of one's own files, that some corpora come from."""
    sides = (side for name in corpora for side in config.corpora[name].sides.values())
    own = (folder / side.file for side in sides if side.file)
    archives = sum(config.archives[archive].bytes or 0 for archive in list_archives(config, corpora))
    return archives + sum(file.stat().st_size for file in own if file.is_file())
