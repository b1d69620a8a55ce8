"""The learning curves of all runs: NLL against updates, on the development text and while training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from nmt.io.files import read_json
from nmt.plots.style import figure_style
from nmt.store.model_folder import HISTORY, SUMMARY
from nmt.training.history import read_history
from pipeline.config.display import ReportSettings
from pipeline.results.figures.styles import line_of
from pipeline.results.inputs import Inputs

Points = tuple[tuple[int, float], ...]
"""Updates and nats per sentence, in the order of the updates."""

# inches: the width of a page's text, so that fonts keep their size
_WIDTH, _PANEL_HEIGHT, _LEGEND_LINE = 6.3, 2.5, 0.18
_NAMES_A_LINE = 3
_PANELS = (("development", "Development NLL"), ("training", "Training NLL"))


@dataclass(frozen=True)
class Curves:
    """What one run's history says.

    development: on the development text at each validation; training: mean over each window of updates, on the
    batches just trained on.
    """

    model: str
    seed: int
    continue_from: str | None
    development: Points
    training: Points


def read_curves(files: Sequence[tuple[Path, Path]]) -> list[Curves]:
    """The curves of runs, each given by its summary and history; in the order given.

    A run that continues another's starts where that one's curves end: its own history begins after that.
    """
    own = [_read(read_json(summary), list(read_history(history))) for summary, history in files]
    by_run = {(curves.model, curves.seed): curves for curves in own}
    return [_joined(curves, by_run.get((curves.continue_from or "", curves.seed))) for curves in own]


def _read(summary: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Curves:
    return Curves(
        summary["model"],
        summary["seed"],
        summary["continue_from"],
        development=_points(lines, "dev_nll"),
        training=_points(lines, "train_nll"),
    )


def _points(lines: Sequence[Mapping[str, Any]], key: str) -> Points:
    """The finite values of a key; a line of the history has some of the keys."""
    found = [(line["update"], line[key]) for line in lines if line.get(key) is not None]
    return tuple((update, nll) for update, nll in found if math.isfinite(nll))


def _joined(curves: Curves, base: Curves | None) -> Curves:
    if base is None:
        return curves
    return replace(
        curves,
        development=_after(base.development, curves.development),
        training=_after(base.training, curves.training),
    )


def _after(before: Points, points: Points) -> Points:
    """The points, with the last one before them in front if there is a gap."""
    return points if not before or (points and points[0][0] <= before[-1][0]) else (before[-1], *points)


def learning_curves(runs: Sequence[Curves], settings: ReportSettings) -> Figure:
    """NLL in nats per sentence against updates: development text above, training text below.

    One colour and line style per model, several seeds as thin lines of it.
    """
    models = {run.model for run in runs}
    height = 2 * _PANEL_HEIGHT + _LEGEND_LINE * math.ceil(len(models) / _NAMES_A_LINE)
    with figure_style():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        panels = figure.subplots(2, 1, sharex=True)
        for axes, (name, title) in zip(panels, _PANELS, strict=True):
            _draw(axes, runs, name, settings)
            _frame(axes)
            axes.set_ylabel(f"{title}\n(nats per sentence)")
        panels[1].set_xlabel("Updates")
        # below, where no curve is; lines are long enough to show their style
        panels[1].legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.24),
            ncols=_NAMES_A_LINE,
            fontsize="small",
            frameon=False,
            handlelength=3.2,
        )
    return figure


def _draw(axes: Axes, runs: Sequence[Curves], name: str, settings: ReportSettings) -> None:
    """One panel: every run's curve, labelled once per model."""
    labelled: set[str] = set()
    for run in runs:
        points: Points = getattr(run, name)
        alone = [other.model for other in runs].count(run.model) == 1
        axes.plot(
            [update for update, _ in points],
            [nll for _, nll in points],
            linewidth=1.5 if alone else 0.7,
            label=None if run.model in labelled else settings.label(run.model),
            **line_of(run.model, settings),
        )
        labelled.add(run.model)


def _frame(axes: Axes) -> None:
    # logarithmic: early updates win a hundred nats, the last ones tenths, and both matter
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high > 3 * low:
        parts = (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 5, 7)
        axes.yaxis.set_major_locator(LogLocator(subs=parts))
    else:  # these could leave a single number
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda nll, _: f"{nll:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda update, _: f"{update:,.0f}"))
    axes.set_xlim(left=0)
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    run_file = inputs.package.run_file
    files = [(run_file(run, SUMMARY), run_file(run, HISTORY)) for run in inputs.runs]
    return learning_curves(read_curves(files), inputs.settings)
