"""Whether the runs of a package are consistent: each summary with its history, and the runs with each other.

Nobody can compute these numbers again without the training, but a package states most of them twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from nmt.io.files import read_json
from nmt.store.model_folder import HISTORY, SUMMARY
from nmt.training.history import read_history
from pipeline.results.inputs import Inputs

UNPROVEN = (
    "invented translations, attention and histories, training NLL, counts of training text, figures and pages"
)
"""What a package cannot prove, for the line of success; docs/publishing.md says why."""


def find_inconsistent_runs(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each summary that its history contradicts, and for each two runs with the same weights."""
    if inputs.config.pretrained.models:  # they may have come without their histories
        return
    summaries: dict[Path, dict[str, Any]] = {}
    for run in inputs.runs:
        path = inputs.package.run_file(run, SUMMARY)
        summary = read_json(path)
        yield from _contradicted(path, summary, inputs.package.run_file(run, HISTORY))
        for other_path, other in summaries.items():
            if summary["weights"] == other["weights"] and not _share_weights(summary, other):
                yield f"{path}: the same weights as {other_path}, which are those of another training"
        summaries[path] = summary


def _share_weights(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two trainings may have the same weights: one continues the other, and neither got better since."""
    continued = one["continue_from"] == other["model"] or other["continue_from"] == one["model"]
    return continued and one["seed"] == other["seed"] and _kept_update(one) == _kept_update(other)


def _kept_update(summary: dict[str, Any]) -> int:
    """Return the update whose weights a training kept."""
    update: int = summary["best_update"] or summary["updates"]
    return update


def _contradicted(summary_path: Path, summary: dict[str, Any], history: Path) -> Iterator[str]:
    """Yield a line for each number of a summary that its history states otherwise."""
    lines = [*read_history(history)]
    development_nll = {line["update"]: line["dev_nll"] for line in lines if line.get("dev_nll") is not None}
    stated = {
        "updates": max(line["update"] for line in lines),
        "epochs": max(line.get("epoch", 0.0) for line in lines),
        "dev_nll": development_nll.get(_kept_update(summary)),
    }
    for name, value in stated.items():
        if summary[name] != value:
            yield f"{summary_path}: {name} is {summary[name]}, {history} says {value}"

    # the last validation comes after the last line: it takes no longer than lines lie apart, or little
    times = [0.0, *sorted({line["seconds"] for line in lines})]
    longest_gap = max(later - earlier for earlier, later in pairwise(times))
    seconds_after_history = 3600 * summary["hours"] - times[-1]
    if not -1 <= seconds_after_history <= longest_gap + 60 + 0.1 * times[-1]:
        yield f"{summary_path}: hours is {summary['hours']:.4f}, {history} says {times[-1] / 3600:.4f}"
