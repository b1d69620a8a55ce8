"""Sentences in the plane of their vectors' principal components (Sutskever et al., 2014, Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.evaluation.principal_components import Projection, read_projections
from nmt.plots.style import COLORS, figure_style
from pipeline.results.figures.labels import label
from pipeline.results.inputs import Inputs

_PANEL_WIDTH, _HEIGHT = 6.2, 4.2
_MOST_LABELS = 20
"""Sentences of a panel that are written out; of more there would be nothing but ink."""


def sentence_vectors(panels: Sequence[Projection]) -> Figure:
    """A panel for each group of sentences, each sentence at its point."""
    with figure_style():
        figure = Figure(figsize=(_PANEL_WIDTH * len(panels), _HEIGHT), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _draw(axes, panel)
    return figure


def _draw(axes: Axes, panel: Projection) -> None:
    axes.scatter(panel.points[:, 0], panel.points[:, 1], s=14, color=COLORS[0], zorder=3)
    axes.margins(0.1)
    first, second = (f"component ({100 * share:.0f}% of the variance)" for share in panel.variance_fractions)
    axes.set_xlabel(f"First principal {first}", fontsize=8)
    axes.set_ylabel(f"Second principal {second}", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    if len(panel.sentences) <= _MOST_LABELS:
        points = zip(panel.points.tolist(), panel.sentences, strict=True)
        label(
            axes, [(x, y, text, "0.6") for (x, y), text in points], letters=90, line=0.034, near=1, fontsize=7
        )


def draw(inputs: Inputs) -> Figure:
    """Return the figure of a package."""
    return sentence_vectors(read_projections(inputs.package.vectors))
