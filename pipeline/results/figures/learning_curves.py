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
from nmt.plots.style import COLORS, DASHES, drawing
from nmt.store.model_folder import HISTORY, SUMMARY
from nmt.training.history import records
from pipeline.config.artifacts import ReportSettings
from pipeline.results.inputs import Inputs

Points = tuple[tuple[int, float], ...]
"""Updates and nats per sentence, in the order of the updates."""

# inches: the width of a page's text, so that fonts keep their size
_WIDTH, _PANEL_HEIGHT, _LEGEND_LINE = 6.3, 2.5, 0.18
_PANELS = (("development", "Development NLL"), ("training", "Training NLL"))


@dataclass(frozen=True)
class Curves:
    """What one run's history says.

    development: on the development text at each validation; training: mean over each window of updates, on the
    batches just trained on.
    """

    model: str
    family: str
    seed: int
    continue_from: str | None
    development: Points
    training: Points


def read_curves(files: Sequence[tuple[Path, Path]]) -> list[Curves]:
    """The curves of runs, each given by its summary and history; in the order given.

    A run that continues another's starts where that one's curves end: its own history begins after that.
    """
    own = [_read(read_json(summary), list(records(history))) for summary, history in files]
    by_run = {(curves.model, curves.seed): curves for curves in own}
    return [_joined(curves, by_run.get((curves.continue_from or "", curves.seed))) for curves in own]


def _read(summary: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Curves:
    return Curves(
        summary["model"],
        summary["family"],
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

    One colour and line style per model, several seeds as thin lines of it. More models than colours: a column for
    each family.
    """
    models = list(dict.fromkeys(run.model for run in runs))
    families = list(dict.fromkeys(run.family for run in runs))
    columns = [families] if len(models) <= len(COLORS) else [[family] for family in families]
    names_a_line = 3 if len(columns) == 1 else 1
    height = 2 * _PANEL_HEIGHT + _LEGEND_LINE * math.ceil(len(models) / len(columns) / names_a_line)
    with drawing():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots(2, len(columns), squeeze=False, sharex="col")
        for column, shown in enumerate(columns):
            within = [run for run in runs if run.family in shown]
            for row, (name, _) in enumerate(_PANELS):
                _draw(axes[row][column], within, name, settings)
                _frame(axes[row][column], ticks=6 if len(columns) == 1 else 4)
            axes[1][column].set_xlabel("Updates")
            _name(axes[1][column], names_a_line)
        for row, (_, title) in enumerate(_PANELS):
            axes[row][0].set_ylabel(f"{title}\n(nats per sentence)")
    return figure


def _draw(axes: Axes, runs: Sequence[Curves], name: str, settings: ReportSettings) -> None:
    """One panel: every run's curve, labelled once per model."""
    drawn = list(dict.fromkeys(run.model for run in runs))
    # a model that Figure 2 shows has the same colour and line there
    models = list(dict.fromkeys([model for model in settings.figure2_models if model in drawn] + drawn))
    labelled: set[str] = set()
    for run in runs:
        points: Points = getattr(run, name)
        round_, index = divmod(models.index(run.model), len(COLORS))
        alone = [other.model for other in runs].count(run.model) == 1
        axes.plot(
            [update for update, _ in points],
            [nll for _, nll in points],
            color=COLORS[index],
            linestyle=DASHES[(index + round_) % len(DASHES)],
            linewidth=1.5 if alone else 0.7,
            label=None if run.model in labelled else settings.label(run.model),
        )
        labelled.add(run.model)


def _name(axes: Axes, names_a_line: int) -> None:
    """The legend, below, where no curve is; its lines are long enough to show their style."""
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.24),
        ncols=names_a_line,
        fontsize="small",
        frameon=False,
        handlelength=3.2,
    )


def _frame(axes: Axes, ticks: int) -> None:
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
    axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda update, _: f"{update:,.0f}"))
    axes.set_xlim(left=0)
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    of_run = inputs.package.of_run
    files = [(of_run(run, SUMMARY), of_run(run, HISTORY)) for run in inputs.runs]
    return learning_curves(read_curves(files), inputs.settings)
