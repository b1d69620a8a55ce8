"""Forecasts of the hours of training and the disk space of an experiment, and time limits of training jobs."""

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

TIME_LIMIT_MARGIN = 1.25
"""Factor for the time limit of a job. With a limit too short, the job must run again; too long, it waits longer."""
OVERHEAD_MINUTES = 30
"""Minutes for the start and for reading, and because jobs stop five minutes before the limit."""

GPU_NAME, GPU_PEAK_TERAFLOPS = "H100", 67
GPU_TERAFLOPS_REACHED: dict[ModelTypeName, float] = {
    "rnnsearch": 48,
    "rnnencdec": 55,
    "grconv": 40,
    "lstm": 63,
}
"""10^12 operations per second of an update on an H100, measured with PyTorch 2.11 in TF32 with fused steps: 13.5 and
8.4 ms with 80 pairs of 31 positions, gated recursive convolution 29.6 ms, deep LSTM 21.4 ms
(its batches of 128 pairs should take less for a pair)."""

TEXT_PER_ARCHIVE_BYTE = 3.9
"""Bytes of prepared text per byte of archive: raw, clean and tokenized text 0.90, 0.90 and 0.91, selected text 0.47,
scores and language models 0.30, ids 0.4 to 0.6. This was measured on 92 MB of English-French archives, half of whose
words were selected. Archives with more languages need less."""
WEIGHT_COPIES = 12
"""Copies of the weights that a run stores: two checkpoints and the final state with two averages of the optimizer each,
the best weights of both checkpoints, the model."""

MEASURED_RATE = "measured here"
CONFIGURED_RATE = "estimated"
ASSUMED_RATE = f"measured on an {GPU_NAME}"


# --- hours ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainingTime:
    """The updates that a run still needs, and their rate. source: where the rate comes from, for people."""

    run: str
    updates: int
    updates_per_hour: float
    source: str

    @property
    def hours(self) -> float:
        """The hours of training at this rate."""
        return self.updates / self.updates_per_hour


def estimate_training_times(config: Config, folder: Path, runs: Iterable[str]) -> list[TrainingTime]:
    """Return the remaining training of these runs of the experiment in a folder."""
    all_runs = collect_runs(config)
    return [estimate_training_time(config, all_runs[name], folder) for name in runs]


def estimate_training_time(config: Config, run: Run, folder: Path) -> TrainingTime:
    """Return the remaining training of a run, at its own rate or, before that is known, at a similar one."""
    entry = config.models[run.model]
    experiment = ExperimentFolder(config, folder)
    all_runs = collect_runs(config)

    # 1. the update at which it starts: 0, or the last one of the run that it continues
    start_update = 0
    if run.base:
        base_status = read_run_status(experiment.find_history(run.base))
        start_update = base_status.update
        if experiment.find_finished_model(run.base) is None:
            base_training = config.models[all_runs[run.base].model].training
            start_update = count_planned_updates(base_training, base_status.updates_per_epoch)

    # 2. the updates that are left
    status = read_run_status(experiment.find_history(run.name))
    end_update = count_planned_updates(entry.training, status.updates_per_epoch)
    updates = max(0, end_update - max(status.update, start_update))

    # 3. the rate: that of the run, of the run that it continues, or of the same model at another seed
    similar_runs = [run.name]
    if run.base:
        similar_runs.append(run.base)
    similar_runs += [name for name, other_run in all_runs.items() if other_run.model == run.model]
    for name in similar_runs:
        rate = read_run_status(experiment.find_history(name)).updates_per_second
        if rate:
            return TrainingTime(run.name, updates, 3600 * rate, MEASURED_RATE)

    # 4. without such a rate: the one in the settings, or an estimate
    is_configured = entry.model_type in config.resources.updates_per_hour
    source = CONFIGURED_RATE if is_configured else ASSUMED_RATE
    return TrainingTime(run.name, updates, estimate_updates_per_hour(config, run.model), source)


def estimate_updates_per_hour(config: Config, model: str) -> float:
    """Return the updates per hour that `resources` has for the type of a model or, without that, an estimate.

    The estimate is the rate of an H100, scaled by the operations of an update and by `resources.gpu_teraflops`.
    """
    entry = config.models[model]
    configured_rate = config.resources.updates_per_hour.get(entry.model_type)
    if configured_rate:
        return configured_rate

    # mean positions per sentence in a batch of real text: 31 if sentences have up to 50 words, 23 if up to 30
    positions = 11 + 0.4 * min(entry.max_words, 60)
    relative_peak = config.resources.gpu_teraflops / GPU_PEAK_TERAFLOPS
    operations_per_second = 1e12 * GPU_TERAFLOPS_REACHED[entry.model_type] * relative_peak
    return 3600 * operations_per_second / count_operations(config, model, positions)


def count_operations(config: Config, model: str, positions: float) -> float:
    """Return the operations of an update with so many positions per sentence, accurate to about a quarter.

    At every position, each weight outside the embeddings takes part in a multiplication and an addition of the forward
    pass, and in four operations of the backward pass.
    """
    entry = config.models[model]

    # the weights of all matrices; an embedding is a row that is only read
    vocabulary_sizes = config.vocabulary.sizes
    weights = MODEL_TYPES[entry.model_type].estimate_weights(entry.architecture, vocabulary_sizes)
    embeddings = sum(vocabulary_sizes) * entry.architecture.embedding_size
    multiplied_weights = weights - embeddings

    positions_of_batch = entry.training.batch_size * positions
    return 6.0 * positions_of_batch * multiplied_weights


def describe_training_times(config: Config, training_times: Collection[TrainingTime]) -> str:
    """Return the hours of training and where they come from: "20 hours, or 12 hours all at once (measured here)"."""
    text = format_hours(sum(time.hours for time in training_times))
    if len(training_times) > 1:
        text += f", or {format_hours(estimate_parallel_hours(config, training_times))} all at once"
    sources = dict.fromkeys(time.source for time in training_times)
    return f"{text} ({'; '.join(sources)})"


def format_hours(hours: float) -> str:
    """Return a duration as minutes or hours, with the digits that a forecast deserves: "45 min", "3.2 hours"."""
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:,.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def estimate_parallel_hours(config: Config, training_times: Collection[TrainingTime]) -> float:
    """Return the hours until all runs are trained if each has its own processor.

    A run that continues another one waits for it.
    """
    all_runs = collect_runs(config)
    hours = {time.run: time.hours for time in training_times}
    chains = [hours[run] + hours.get(all_runs[run].base or "", 0.0) for run in hours]
    return max(chains, default=0.0)


# --- time limits of jobs ----------------------------------------------------------------------------------------------


def request_training_minutes(config: Config, run: Run, folder: Path) -> int:
    """Return the time limit of a training job: its remaining minutes with a margin, at most resources.train_hours."""
    hours = estimate_training_time(config, run, folder).hours
    minutes = OVERHEAD_MINUTES + TIME_LIMIT_MARGIN * 60 * hours
    return max(1, math.ceil(min(minutes, 60 * config.resources.train_hours)))


def count_training_retries(config: Config, runs: Iterable[Run]) -> int:
    """Return how often a training job is submitted again.

    That is once for each time limit that the training fills at half the expected rate, and `train_attempts` times for
    jobs that are lost.
    """
    hours = []
    for run in runs:
        updates = config.models[run.model].training.updates
        hours.append(updates / estimate_updates_per_hour(config, run.model))
    time_limits = math.ceil(2 * max(hours) / config.resources.train_hours)
    return time_limits + config.resources.train_attempts


# --- disk -------------------------------------------------------------------------------------------------------------


def estimate_disk_bytes(
    config: Config, folder: Path, archives: Iterable[str], corpora: Sequence[str], runs: Iterable[str]
) -> int:
    """Return the bytes of archives to download, text to prepare and models to train.

    Archives of unknown size count as 0.
    """
    all_runs = collect_runs(config)
    weight_count = 0
    for run in runs:
        model = config.models[all_runs[run].model]
        weight_count += MODEL_TYPES[model.model_type].estimate_weights(
            model.architecture, config.vocabulary.sizes
        )
    text_bytes = round(TEXT_PER_ARCHIVE_BYTE * _count_source_bytes(config, folder, corpora))
    weight_bytes = 4 * WEIGHT_COPIES * weight_count  # a weight has 32 bits
    return _count_archive_bytes(config, archives) + text_bytes + weight_bytes


def _count_archive_bytes(config: Config, archives: Iterable[str]) -> int:
    return sum(config.archives[archive].bytes or 0 for archive in archives)


def _count_source_bytes(config: Config, folder: Path, corpora: Sequence[str]) -> int:
    """Return the bytes of the archives, and of the user's own files, that corpora come from."""
    total = _count_archive_bytes(config, list_archives(config, corpora))
    for corpus in corpora:
        for side in config.corpora[corpus].sides.values():
            if side.file and (folder / side.file).is_file():
                total += (folder / side.file).stat().st_size
    return total
