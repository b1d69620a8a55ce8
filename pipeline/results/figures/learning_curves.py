"""The learning curves of all runs: NLL against updates, on the development text and on training batches."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator, StrMethodFormatter

from nmt.io.files import read_json
from nmt.plots.style import figure_style
from nmt.store.model_folder import HISTORY, SUMMARY
from nmt.training.history import read_history
from pipeline.config.artifacts import ReportSettings
from pipeline.results.figures.style import PointLabel, add_grid, line_style, write_labels
from pipeline.results.inputs import Inputs
from pipeline.results.seeds import Result

History = tuple[str, Sequence[Result]]
"""The model of a run, and the lines of the run's history."""

# inches: the width of a page's text, so that fonts keep their size; and the height of a label of one line, and of two
_WIDTH, _MIN_PANEL_HEIGHT = 6.3, 2.7
_LINE_HEIGHT, _LABEL_HEIGHT = 0.17, 0.41


def plot_learning_curves(inputs: Inputs) -> Figure:
    """Plot the learning curves of a package."""
    histories = []
    for run in inputs.runs:
        model = read_json(inputs.run_file(run, SUMMARY))["model"]
        histories.append((model, list(read_history(inputs.run_file(run, HISTORY)))))
    return make_learning_curves(histories, inputs.settings)


def make_learning_curves(histories: Sequence[History], settings: ReportSettings) -> Figure:
    """Make the figure of NLL in nats per sentence against updates: development text above, training text below.

    All runs of a model have the same style. If there are several, their lines are thin.
    """
    # each panel is high enough for the labels of all models
    model_count = len({model for model, _ in histories})
    panel_height = max(_MIN_PANEL_HEIGHT, model_count * _LABEL_HEIGHT)
    with figure_style():
        figure = Figure(figsize=(_WIDTH, 2 * panel_height), layout="constrained")
        development_axes, training_axes = figure.subplots(2, 1, sharex=True)
        # training NLL is computed before each update, on its batch; a point is the mean over several updates
        for axes, key in ((development_axes, "dev_nll"), (training_axes, "train_nll")):
            labels = _draw_curves(axes, histories, key, settings)
            _set_scales(axes)
            write_labels(
                axes,
                labels,
                max_line_length=18,
                line_height_fraction=_LINE_HEIGHT / panel_height,
                margin_fraction=1.0,
                fontsize="small",
            )
        development_axes.set_ylabel("Development NLL\n(nats per sentence)")
        training_axes.set_ylabel("Training NLL\n(nats per sentence)")
        training_axes.set_xlabel("Updates")
    return figure


def _draw_curves(
    axes: Axes, histories: Sequence[History], key: str, settings: ReportSettings
) -> list[PointLabel]:
    """Draw the curve of each run. Return the label of each model, at the end of its first curve with points.

    key: the number that is drawn, where it is finite. Only some lines of a history have it.
    """
    models = [model for model, _ in histories]
    labels: dict[str, PointLabel] = {}
    for model, lines in histories:
        updates = []
        values = []
        for line in lines:
            nll = line.get(key)
            if nll is not None and math.isfinite(nll):
                updates.append(line["update"])
                values.append(nll)
        style = line_style(model, settings)
        style["linewidth"] = 1.5 if models.count(model) == 1 else 0.7
        axes.plot(updates, values, **style)
        if values and model not in labels:
            labels[model] = PointLabel(updates[-1], values[-1], settings.label(model), style["color"])
    return list(labels.values())


def _set_scales(axes: Axes) -> None:
    """Set the scales, ticks and grid of a panel, after its curves are drawn."""
    # logarithmic, because the first updates lower NLL by a hundred nats, and the last updates by tenths
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high > 10 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))  # 10, 20, 50, 100, ...
    else:  # a shorter range may contain only one of these ticks
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlim(left=0)
    add_grid(axes)
