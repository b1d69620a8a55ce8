"""Forecasts of an experiment's hours of training, and of its disk space."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from nmt.data import BITEXT_FILES
from nmt.settings.families import FAMILIES
from nmt.settings.training import ModelEntry
from nmt.store.model_folder import HISTORY
from nmt.training.history import Reached, last_update, reached
from pipeline.config.experiment import archives_in_use, prepared_corpora
from pipeline.config.runs import Run, runs_of
from pipeline.config.schema import Config
from pipeline.monitor.time_limits import CARD, expected_rate, first_update

TEXT_PER_ARCHIVE_BYTE = 3.9
"""Bytes of prepared text per byte of archive: raw, clean and tokenized text 0.90, 0.90 and 0.91, selected text 0.47,
scores and language models 0.30, ids 0.4 to 0.6. This was measured on 92 MB of English-French archives, half of whose
words were selected. Archives with more languages need less."""

STATE_COPIES = 11
"""Copies of the weights that a run stores: two checkpoints and the final state with two averages of the optimizer each,
the best weights before the end, the model."""

MEASURED, STATED, ASSUMED = "measured here", "resources.updates_per_hour", f"measured on an {CARD}"


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


def training_times(config: Config, folder: Path, runs: Iterable[str]) -> list[TrainingTime]:
    """Return what is left of these runs, each at its own rate, that of a like run here, or that of the settings."""
    all_runs = runs_of(config, list(config.models))
    histories = {name: reached(_history(folder, name)) for name in all_runs}
    return [_training_time(config, all_runs, name, histories, folder) for name in runs]


def _history(folder: Path, run: str) -> Path:
    """Return the history of a run that is at work or has ended."""
    state = folder / "state" / run / HISTORY
    return state if state.exists() else folder / "models" / run / HISTORY


def _training_time(
    config: Config, all_runs: dict[str, Run], name: str, histories: dict[str, Reached], folder: Path
) -> TrainingTime:
    run = all_runs[name]
    entry = config.models[run.model]
    begun = max(histories[name].update, first_update(config, run, folder))
    left = max(0, last_update(entry.training, histories[name]) - begun)
    for other in dict.fromkeys([name, run.base, *all_runs]):
        rate = histories[other].updates_per_second if other else None
        if other and rate and _alike(entry, config.models[all_runs[other].model]):
            return TrainingTime(name, left, 3600 * rate, MEASURED)
    source = STATED if entry.family in config.resources.updates_per_hour else ASSUMED
    return TrainingTime(name, left, expected_rate(config, run.model), source)


def _alike(one: ModelEntry, other: ModelEntry) -> bool:
    """Return whether an update of one takes as long as one of the other."""
    deciding = {"batch_size", "optimizer", "precision", "device", "threads"}
    return (
        one.family == other.family
        and one.max_words == other.max_words
        and one.architecture == other.architecture
        and one.training.model_dump(include=deciding) == other.training.model_dump(include=deciding)
    )


def in_words(config: Config, times: Collection[TrainingTime]) -> str:
    """Return hours of training as a piece of a line, with where they come from."""
    hours, chain = sum(time.hours for time in times), longest_chain(config, times)
    together = f", {hours_in_words(chain)} if all at once" if len(times) > 1 else ""
    sources = "; ".join(dict.fromkeys(time.source for time in times))
    return f"{hours_in_words(hours)}{together} ({sources})"


def hours_in_words(hours: float) -> str:
    """Return hours as minutes or hours, as precisely as a forecast deserves."""
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:,.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def longest_chain(config: Config, times: Collection[TrainingTime]) -> float:
    """Return the hours until all are trained with a processor for each. A run that continues another waits for it."""
    all_runs, hours = runs_of(config, list(config.models)), {time.run: time.hours for time in times}
    return max((hours[run] + hours.get(all_runs[run].base or "", 0.0) for run in hours), default=0.0)


def disk_bytes(config: Config, folder: Path, archives: Iterable[str], runs: Iterable[str]) -> dict[str, int]:
    """Return the bytes of archives to fetch, text to prepare and models to train. Archives of unknown size count 0."""
    all_runs = runs_of(config, list(config.models))
    fetched = sum(config.archives[archive].bytes or 0 for archive in archives)
    text = _unprepared(config, folder)
    models = [config.models[all_runs[run].model] for run in runs]
    weights = [
        FAMILIES[model.family].weights(model.architecture, config.vocabulary.sizes) for model in models
    ]
    return {
        "archives": fetched,
        "text": round(TEXT_PER_ARCHIVE_BYTE * text),
        "models": 4 * STATE_COPIES * sum(weights),
    }


def _unprepared(config: Config, folder: Path) -> int:
    """Return bytes of archives and of files of one's own whose text is not binary yet."""
    if all((folder / f"data/binary/train/{name}").exists() for name in BITEXT_FILES):
        return 0
    sides = (side for name in prepared_corpora(config) for side in config.corpora[name].sides.values())
    own = (folder / side.file for side in sides if side.file)
    archives = sum(config.archives[archive].bytes or 0 for archive in archives_in_use(config))
    return archives + sum(file.stat().st_size for file in own if file.is_file())
