"""The learning curves of all runs: NLL against updates, on the development text and on training batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator, StrMethodFormatter

from nmt.io.files import read_json
from nmt.plots.style import figure_style
from nmt.store.model_folder import HISTORY, SUMMARY
from nmt.training.history import read_history
from pipeline.config.display import ReportSettings
from pipeline.results.figures.style import add_grid, line_style
from pipeline.results.inputs import Inputs
from pipeline.results.seeds import Result

Points = tuple[tuple[int, float], ...]
"""Updates and nats per sentence, in the order of the updates."""

# inches: the width of a page's text, so that fonts keep their size
_WIDTH, _PANEL_HEIGHT, _LEGEND_LINE = 6.3, 2.5, 0.18
_LEGEND_COLUMNS = 3


@dataclass(frozen=True)
class RunCurves:
    """The curves of a run: points of update and NLL, from its history."""

    model: str
    seed: int
    continue_from: str | None
    development: Points
    """On the development text, at each validation."""
    training: Points
    """On the batches just trained on, as mean over each window of updates."""


def plot_learning_curves(inputs: Inputs) -> Figure:
    """Plot the learning curves of a package."""
    run_file = inputs.package.run_file
    runs = []
    for run in inputs.runs:
        runs.append((read_json(run_file(run, SUMMARY)), list(read_history(run_file(run, HISTORY)))))
    return make_learning_curves(collect_curves(runs), inputs.settings)


def collect_curves(runs: Sequence[tuple[Result, Sequence[Result]]]) -> list[RunCurves]:
    """Return the curves of runs, each given by its summary and the lines of its history, in the same order.

    A run that continues another starts at the end of that one's curves, since its own history begins after that.
    """
    # 1. the curves of each history
    curves_by_run: dict[tuple[str, int], RunCurves] = {}
    for summary, lines in runs:
        model, seed = summary["model"], summary["seed"]
        curves_by_run[model, seed] = RunCurves(
            model=model,
            seed=seed,
            continue_from=summary["continue_from"],
            development=_finite_points(lines, "dev_nll"),
            training=_finite_points(lines, "train_nll"),
        )

    # 2. a run that continues another one: its curves are joined to those of the other run
    joined_curves = []
    for curves in curves_by_run.values():
        base = curves_by_run.get((curves.continue_from or "", curves.seed))
        if base is not None:
            development = _continue_points(base.development, curves.development)
            training = _continue_points(base.training, curves.training)
            curves = replace(curves, development=development, training=training)
        joined_curves.append(curves)
    return joined_curves


def _finite_points(lines: Sequence[Result], key: str) -> Points:
    """Return the finite values of a key, which only some lines of a history have."""
    points = []
    for line in lines:
        nll = line.get(key)
        if nll is not None and math.isfinite(nll):
            points.append((line["update"], nll))
    return tuple(points)


def _continue_points(base_points: Points, points: Points) -> Points:
    """Return a continued run's points, after the last point of the base if there is a gap between them."""
    has_gap = base_points and (not points or points[0][0] > base_points[-1][0])
    return (base_points[-1], *points) if has_gap else points


def make_learning_curves(runs: Sequence[RunCurves], settings: ReportSettings) -> Figure:
    """Make the figure of NLL in nats per sentence against updates: development text above, training text below.

    A model has one colour and line style; several seeds are thin lines of it.
    """
    models = [run.model for run in runs]
    legend_lines = math.ceil(len(set(models)) / _LEGEND_COLUMNS)
    with figure_style():
        size = _WIDTH, 2 * _PANEL_HEIGHT + _LEGEND_LINE * legend_lines
        figure = Figure(figsize=size, layout="constrained")
        development_axes, training_axes = figure.subplots(2, 1, sharex=True)
        labelled_models: set[str] = set()
        for run in runs:
            style = line_style(run.model, settings)
            style["linewidth"] = 1.5 if models.count(run.model) == 1 else 0.7
            if run.model not in labelled_models:
                style["label"] = settings.label(run.model)
                labelled_models.add(run.model)
            # a curve's points, (points, 2), are updates and NLL
            development_axes.plot(*np.reshape(run.development, (-1, 2)).T, **style)
            training_axes.plot(*np.reshape(run.training, (-1, 2)).T, **style)
        _set_scales(development_axes)
        _set_scales(training_axes)
        development_axes.set_ylabel("Development NLL\n(nats per sentence)")
        training_axes.set_ylabel("Training NLL\n(nats per sentence)")
        training_axes.set_xlabel("Updates")
        # below the axes, so that it hides no curve; lines are long enough to show their style
        training_axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.24),
            ncols=_LEGEND_COLUMNS,
            fontsize="small",
            frameon=False,
            handlelength=3.2,
        )
    return figure


def _set_scales(axes: Axes) -> None:
    """Set the axes of a panel, ticks and grid, once its curves are drawn."""
    # a logarithmic axis shows both the first updates, which lower NLL by a hundred nats, and the last, by tenths
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high > 3 * low:
        multiples = (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 5, 7)
        axes.yaxis.set_major_locator(LogLocator(subs=multiples))
    else:  # over a short range these could leave a single tick
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlim(left=0)
    add_grid(axes)
