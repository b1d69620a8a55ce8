"""Results of several runs of a model, one for each seed: grouped by model, with means over the seeds."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

Result = dict[str, Any]
"""A JSON file about one run: its scores, its summary or its settings."""
Results = Mapping[str, Sequence[Result]]
"""The results of all runs, by model."""

ScoredSentence = Mapping[str, Any]
"""N-gram counts, lengths and the number of unknown words of a sentence and its translation."""
ScoredSentences = Sequence[ScoredSentence]
"""The list `by_sentence` of a system's scores."""

TRAINING_NUMBERS = ("updates", "epochs", "hours", "train_nll", "dev_nll")
"""Numbers of a summary that become means over seeds."""


class Mean(NamedTuple):
    """The mean of a number over the runs of a model, and its sample standard deviation (n - 1).

    value: None if a run does not have the number. std: None without a value, and for a single run.
    """

    value: float | None = None
    std: float | None = None
    run_count: int = 1

    @classmethod
    def from_values(cls, values: Sequence[float | None]) -> Self:
        """Return the mean of the values of a model's runs. If all values are equal, the mean is exactly this value."""
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values) or not numbers:
            return cls()
        std = statistics.stdev(numbers) if len(numbers) > 1 else None
        return cls(statistics.mean(numbers), std, len(numbers))

    def format(self, decimals: int) -> str:
        """Return text like `1,226.75 ± 0.31`, or `26.75` without a deviation; "" for a missing number.

        There are more decimals than requested if the first digit of the deviation needs them.
        """
        if self.value is None:
            return ""
        if not self.std:
            return f"{self.value:,.{decimals}f}"
        decimals = max(decimals, -math.floor(math.log10(self.std)))  # 3 decimals for 0.004
        return f"{self.value:,.{decimals}f} ± {self.std:,.{decimals}f}"


def group_by_model(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return results by their model, in the order in which models first occur."""
    results_by_model: dict[str, list[Result]] = {}
    for result in results:
        results_by_model.setdefault(result["model"], []).append(result)
    return results_by_model


def merge_summaries(summaries: Sequence[Result]) -> Result:
    """Return the summaries of a model's runs as a single summary.

    Each of the `TRAINING_NUMBERS` becomes a `Mean`. Any other key has its value, or the distinct values joined by
    commas; `seed` lists all seeds, and `seeds` counts them.
    """
    # 1. all keys
    merged: Result = {}
    for key in summaries[0]:
        distinct_texts = dict.fromkeys(str(summary.get(key)) for summary in summaries)
        merged[key] = summaries[0][key] if len(distinct_texts) == 1 else ", ".join(distinct_texts)

    # 2. numbers and seeds
    for name in TRAINING_NUMBERS:
        merged[name] = Mean.from_values([summary.get(name) for summary in summaries])
    merged["seed"] = " ".join(str(summary["seed"]) for summary in summaries)
    merged["seeds"] = len(summaries)
    return merged


def get_scored_sentences(scores: Result, mode: str) -> list[Result]:
    """Return the scored sentences of a run. mode: `all`, or `no_unk` for sentences without unknown words."""
    sentences: list[Result] = scores["by_sentence" if mode == "all" else "by_sentence_no_unk"]
    return sentences
