"""The counters of a training run. With its tensors, they are its state."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from nmt.data.batches import Batch
from nmt.errors import UserError
from nmt.training.update import UpdateStatistics


@dataclass
class LogWindow:
    """Sums over the updates since the last training line of the history.

    source_words, target_words: without EOS. seconds: the time of updates alone, without validations and checkpoints.
    """

    updates: int = 0
    sentences: int = 0
    source_words: int = 0
    target_words: int = 0
    seconds: float = 0.0

    def add_batch(self, batch: Batch, source_eos: bool) -> None:
        """Count one update; `source_eos`: whether the source sentences end with EOS."""
        sentences = len(batch)
        self.updates += 1
        self.sentences += sentences
        self.source_words += int(batch.source_lengths.sum())
        self.target_words += int(batch.target_lengths.sum()) - sentences
        if source_eos:
            self.source_words -= sentences

    def compute_means(self, statistics: UpdateStatistics) -> dict[str, float | None]:
        """Return the means for a line of the history. `statistics` are sums over the same updates."""
        finite_updates = self.updates - statistics.nonfinite_updates
        mean_nll, mean_norm = None, None
        if finite_updates:
            # The NLL is a sum over the updates with a finite gradient. Their share of the sentences is estimated as
            # their share of the updates.
            mean_nll = statistics.nll / (self.sentences * finite_updates / self.updates)
            mean_norm = statistics.gradient_norm / finite_updates
        return {
            "train_nll": mean_nll,
            "gradient_norm": mean_norm,
            "clipped": statistics.clipped_updates / self.updates,
            "not_finite": statistics.nonfinite_updates,
        }

    def compute_speed(self) -> dict[str, float]:
        """Return the words per second of both sides, for a line of the history."""
        seconds = max(self.seconds, 1e-9)
        return {
            "source_words_per_second": self.source_words / seconds,
            "target_words_per_second": self.target_words / seconds,
        }


@dataclass
class Counters:
    """The counters of a run. JSON represents them exactly.

    seconds: wall-clock time of the run, over all its starts.
    history_bytes: size of the history at the last checkpoint.
    best_score: the best development score, where greater is better: BLEU, or the NLL with its sign changed.
    most_validations_without_gain: the largest `validations_without_gain` so far.
    most_reached_at: the update after which this largest number was first reached. With a `patience` of this size, the
    run would have ended there.
    """

    update: int = 0
    seconds: float = 0.0
    history_bytes: int = 0
    best_score: float | None = None
    best_update: int = 0
    validations_without_gain: int = 0
    most_validations_without_gain: int = 0
    most_reached_at: int = 0
    log_window: LogWindow = field(default_factory=LogWindow)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Counters:
        """Return the counters of a checkpoint, which stores them by name (`dataclasses.asdict`).

        Raises UserError if the checkpoint was written by a version of nmt that has different counters.
        """
        try:
            log_window = LogWindow(**record["log_window"])
            return cls(**{**record, "log_window": log_window})
        except (KeyError, TypeError):
            raise UserError(
                "a different version of nmt began this training, and only that version can continue it"
            ) from None

    def count_validation(self, score: float) -> bool:
        """Count a validation, and return whether its score is the best so far."""
        # A score that is not a number (NaN) is the worst. If it was stored, no later score would be greater than it.
        if math.isnan(score):
            score = -math.inf

        # While BLEU is still 0, the newest weights are the best.
        best_score = self.best_score
        is_best = best_score is None or score > best_score or score == best_score == 0
        if is_best:
            self.best_score, self.best_update = score, self.update
            self.validations_without_gain = 0
        else:
            self.validations_without_gain += 1
            if self.validations_without_gain > self.most_validations_without_gain:
                self.most_validations_without_gain = self.validations_without_gain
                self.most_reached_at = self.update
        return is_best
