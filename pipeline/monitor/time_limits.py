"""Time limits of training jobs: the time of their updates at a known rate, in slices of the longest limit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from nmt.settings.families import FAMILIES, FamilyName
from nmt.store.model_folder import HISTORY
from nmt.training.history import last_update, reached
from pipeline.config.runs import Run, runs_of
from pipeline.config.schema import Config

MARGIN = 1.25
"""Factor for the time limit. With too short a limit, a job must run once more; with too long a one, it waits longer."""
CARD, CARD_TERAFLOPS = "H100", 67
REACHED: dict[FamilyName, float] = {"rnnsearch": 51, "rnnencdec": 58, "grconv": 40, "lstm": 94}
"""10^12 operations per second of an update on an H100, measured with PyTorch 2.11 in TF32 with fused steps: 12.6 and
8.0 ms with 80 pairs of 31 positions, gated recursive convolution 29.6 ms, deep LSTM 37.8 ms with 128 pairs of 51."""
OVERHEAD_MINUTES = 30
"""Minutes for the start, for reading, and because jobs stop five minutes early."""


def time_limit(updates: int, updates_per_hour: float, longest_hours: float) -> int:
    """Return the minutes that a job asks for: the time of its updates with a margin, at most the longest limit."""
    minutes = OVERHEAD_MINUTES + MARGIN * 60 * max(updates, 0) / updates_per_hour
    return max(1, math.ceil(min(minutes, 60 * longest_hours)))


def time_slices(updates: int, updates_per_hour: float, longest_hours: float) -> int:
    """Return jobs that a training run takes at most, should it be half as fast as it was said to be."""
    return math.ceil(2 * updates / updates_per_hour / longest_hours)


def training_minutes(config: Config, run: Run, folder: Path) -> int:
    """Return the minutes for a training job's remaining updates, at the rate of the run or else of the settings."""
    done = reached(folder / "state" / run.name / HISTORY)
    end = last_update(config.models[run.model].training, done)
    if done.updates_per_second is None and run.base:
        done = reached(folder / "models" / run.base / HISTORY)
    rate = 3600 * done.updates_per_second if done.updates_per_second else expected_rate(config, run.model)
    return time_limit(
        end - max(done.update, first_update(config, run, folder)), rate, config.resources.train_hours
    )


def first_update(config: Config, run: Run, folder: Path) -> int:
    """Return the update after which a run begins: 0, or the end of the run that it continues."""
    if run.base is None:
        return 0
    finished = folder / "models" / run.base / HISTORY
    if finished.exists():
        return reached(finished).update
    base = runs_of(config, list(config.models))[run.base]
    return last_update(config.models[base.model].training, reached(folder / "state" / run.base / HISTORY))


def training_retries(config: Config, runs: Iterable[Run]) -> int:
    """Return how often a training job is sent again: its time slices, by twice the estimate, and the lost ones."""
    longest = config.resources.train_hours
    slices = (
        time_slices(config.models[run.model].training.updates, expected_rate(config, run.model), longest)
        for run in runs
    )
    return max(slices) + config.resources.train_attempts


def expected_rate(config: Config, model: str) -> float:
    """Return the updates per hour that the settings state for the family, else what an H100 reached.

    That is scaled by the operations of an update, and by what the data sheets say of the two cards.
    """
    entry, resources = config.models[model], config.resources
    stated = resources.updates_per_hour.get(entry.family)
    speed = 1e12 * REACHED[entry.family] * resources.gpu_teraflops / CARD_TERAFLOPS
    return stated or 3600 * speed / operations(config, model, positions(entry.max_words))


def positions(max_words: int) -> float:
    """Return the mean positions of a batch of real text: 31 where sentences have up to 50 words, 23 up to 30."""
    return 11 + 0.4 * min(max_words, 60)


def operations(config: Config, model: str, positions: float) -> float:
    """Return operations of an update with so many positions a sentence, accurate to about a quarter.

    At every position, each weight but the embeddings' takes part in a product, of two operations, and in two more on
    the way back.
    """
    entry = config.models[model]
    words = config.vocabulary.sizes
    weights = FAMILIES[entry.family].weights(entry.architecture, words)
    in_products = weights - sum(words) * entry.architecture.embedding_size
    return 6.0 * entry.training.batch_size * positions * in_products
