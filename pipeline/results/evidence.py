"""Whether the runs of a package are consistent: summaries with settings and histories, and the runs with each other.

Nobody can compute these numbers again without the training, but a package states most of them twice.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from nmt.io.files import read_json
from nmt.settings.base import read_settings
from nmt.settings.training import ModelRun
from nmt.store.model_folder import HISTORY, SETTINGS, SUMMARY
from nmt.training.history import read_history
from pipeline.results.inputs import Inputs

Summary = dict[str, Any]
UNPROVEN = (
    "invented translations, attention, perplexity, sentence vectors and histories, training NLL, machines, counts of"
    " text, choice of settings, figures and pages"
)
"""What `nmt verify` does not prove, as its conclusion says; docs/publishing.md has the reasons."""


def find_inconsistent_runs(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each value of a summary that settings or history contradict, and for runs of equal weights."""
    summaries: dict[Path, Summary] = {}
    for run in inputs.runs:
        path = inputs.package.run_file(run, SUMMARY)
        summaries[path] = read_json(path)
        settings = inputs.package.run_file(run, SETTINGS)
        expected_values = read_settings(ModelRun, settings).summary_fields()
        yield from _list_differences(path, summaries[path], settings, expected_values)
        yield from _compare_with_history(path, summaries[path], inputs.package.run_file(run, HISTORY))

    # if two trainings have equal weights, one is a copy of the other
    for (earlier_path, earlier_summary), (path, summary) in combinations(summaries.items(), 2):
        same_weights = summary["weights"] == earlier_summary["weights"]
        if same_weights and not _may_share_weights(summary, earlier_summary):
            yield f"{path}: the same weights as {earlier_path}, although that is another training"


def _may_share_weights(summary: Summary, earlier_summary: Summary) -> bool:
    """Return whether two trainings may have equal weights: one continues the other and did not improve on it."""
    is_continued = earlier_summary["model"] == summary["continue_from"]
    is_continued |= summary["model"] == earlier_summary["continue_from"]
    same_seed = summary["seed"] == earlier_summary["seed"]
    return is_continued and same_seed and _kept_update(summary) == _kept_update(earlier_summary)


def _kept_update(summary: Summary) -> int:
    """Return the number of the update whose weights a training kept."""
    update: int = summary["best_update"] or summary["updates"]
    return update


def _list_differences(summary_path: Path, summary: Summary, file: Path, values: Summary) -> Iterator[str]:
    """Yield a line for each value of a summary that differs from what another file of the run says."""
    for name, value in values.items():
        if summary[name] != value:
            yield f"{summary_path}: {name} is {summary[name]}, {file} says {value}"


def _compare_with_history(summary_path: Path, summary: Summary, history: Path) -> Iterator[str]:
    """Yield a line for each number of a summary that differs from its history."""
    # the numbers of the history, which has a line every few updates, and one for each validation
    lines = list(read_history(history))
    dev_nll_by_update = {line["update"]: line["dev_nll"] for line in lines if line.get("dev_nll") is not None}
    history_values = {
        "updates": max(line["update"] for line in lines),
        "epochs": max(line.get("epoch", 0.0) for line in lines),
        "dev_nll": dev_nll_by_update.get(_kept_update(summary)),
    }
    yield from _list_differences(summary_path, summary, history, history_values)

    # After the last line a run validates once more and saves. The validation takes no longer than the longest time
    # between two lines; for saving, a minute and a tenth of the training are enough.
    times = [0.0, *sorted({line["seconds"] for line in lines})]
    longest_gap = max(next_time - time for time, next_time in pairwise(times))
    seconds_after_history = 3600 * summary["hours"] - times[-1]
    max_seconds = longest_gap + 60 + 0.1 * times[-1]
    min_seconds = -1  # for rounding
    if not min_seconds <= seconds_after_history <= max_seconds:  # also if it is NaN
        yield f"{summary_path}: hours is {summary['hours']:.4f}, {history} says {times[-1] / 3600:.4f}"
