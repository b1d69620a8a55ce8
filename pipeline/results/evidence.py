"""Whether the runs of a package are consistent: summaries with settings and histories, and the runs with each other.

Nobody can recompute the numbers of a summary without the training, but a package contains most of them twice.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from nmt.io.files import read_json
from nmt.settings.base import read_settings
from nmt.settings.training import ModelRun, Training
from nmt.store.model_folder import HISTORY, SETTINGS, SUMMARY
from nmt.training.history import read_history
from pipeline.results.inputs import Inputs

Summary = dict[str, Any]
UNPROVEN = (
    "figures and pages, and that settings, text counts, vocabularies, trainings and translations are honest"
)
"""What `nmt verify` does not prove, as its conclusion says (docs/publishing.md)."""


def find_inconsistent_runs(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each value of a summary that settings or history contradict, and for copied weights."""
    runs: list[tuple[Path, Summary, ModelRun]] = []
    for name in inputs.runs:
        path = inputs.run_file(name, SUMMARY)
        summary = read_json(path)
        settings_path = inputs.run_file(name, SETTINGS)
        settings = read_settings(ModelRun, settings_path)
        yield from _compare_values(path, summary, settings_path, settings.summary_fields())
        if not _is_possible_end(settings.training, summary):
            end = f"{summary['updates']:,} updates, stopped by {summary['stopped_by']}"
            yield f"{path}: {end}: a training with the settings in {settings_path} does not end like this"
        yield from _compare_with_history(path, summary, inputs.run_file(name, HISTORY))
        runs.append((path, summary, settings))

    # if two different trainings have equal weights, one is a copy of the other
    for (other_path, other_summary, other_settings), (path, summary, settings) in combinations(runs, 2):
        if summary["weights"] != other_summary["weights"]:
            continue
        same_settings = settings.fingerprint_fields() == other_settings.fingerprint_fields()
        # a run that did not improve on the model with which it began has the weights of that model
        keeps_initial_weights = "initial_weights" in summary["data"] and _kept_update(summary) == 0
        may_be_equal = same_settings or keeps_initial_weights
        if not (may_be_equal and _kept_same_update(summary, other_summary)):
            yield f"{path}: the same weights as {other_path}, although that is a different training"


def _is_possible_end(training: Training, summary: Summary) -> bool:
    """Return whether a training with these settings can stop after the updates, and for the reason, of a summary."""
    updates, reason = summary["updates"], summary["stopped_by"]
    if reason == "updates":
        return bool(updates == training.updates)
    needed_setting = training.epochs if reason == "epochs" else training.patience
    return needed_setting is not None and updates <= training.updates


def _kept_same_update(summary: Summary, other_summary: Summary) -> bool:
    """Return whether two trainings with the same settings may have kept equal weights, after the same update.

    They may have ended at different times, or one has continued the other without improving on it.
    """
    base, other_base = summary["continue_from"], other_summary["continue_from"]
    is_one_training = base == other_base or base == other_summary["model"] or other_base == summary["model"]
    same_data = summary["data"] == other_summary["data"]
    return same_data and is_one_training and _kept_update(summary) == _kept_update(other_summary)


def _kept_update(summary: Summary) -> int:
    """Return the number of the update whose weights a training kept."""
    update: int = summary["updates"] if summary["best_update"] is None else summary["best_update"]
    return update


def _compare_values(summary_path: Path, summary: Summary, file: Path, values: Summary) -> Iterator[str]:
    """Yield a line for each value of a summary that differs from the value in another file of the run."""
    for name, value in values.items():
        if summary[name] != value:
            yield f"{summary_path}: {name} is {summary[name]}, {file} says {value}"


def _compare_with_history(summary_path: Path, summary: Summary, history: Path) -> Iterator[str]:
    """Yield a line for each number of a summary that differs from the run's history."""
    # the numbers of the history, which has a line every few updates, and a line for each validation
    lines = list(read_history(history))
    dev_nll_by_update = {line["update"]: line["dev_nll"] for line in lines if "dev_nll" in line}
    history_values = {
        "updates": max(line["update"] for line in lines),
        "epochs": max(line["epoch"] for line in lines),
        "dev_nll": dev_nll_by_update.get(_kept_update(summary)),
    }
    yield from _compare_values(summary_path, summary, history, history_values)

    # After the last line, a run validates once more and saves the model. The validation takes at most the longest time
    # between two lines. Saving takes at most a minute and a tenth of the training.
    times = [0.0, *sorted({line["seconds"] for line in lines})]
    longest_gap = max(next_time - time for time, next_time in pairwise(times))
    seconds_after_history = 3600 * summary["hours"] - times[-1]
    max_seconds = longest_gap + 60 + 0.1 * times[-1]
    min_seconds = -1  # times are rounded
    if not min_seconds <= seconds_after_history <= max_seconds:  # `not`, so that NaN is reported, too
        yield f"{summary_path}: hours is {summary['hours']:.4f}, {history} says {times[-1] / 3600:.4f}"
