"""Sentences in the plane of their vectors' principal components (Sutskever et al., 2014, Fig. 2)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.evaluation.principal_components import Projection, read_projections
from nmt.plots.style import COLORS, figure_style
from pipeline.results.figures.style import PointLabel, add_grid, write_labels
from pipeline.results.inputs import Inputs

_PANEL_WIDTH, _HEIGHT = 6.2, 4.2  # inches
_MAX_LABELS = 20
"""A panel with more sentences has no texts, because these would cover the points."""


def plot_sentence_vectors(inputs: Inputs) -> Figure:
    """Plot the sentence vectors of a package: a panel for each group of sentences, each sentence at its point."""
    projections = read_projections(inputs.vectors)
    with figure_style():
        figure = Figure(figsize=(_PANEL_WIDTH * len(projections), _HEIGHT), layout="constrained")
        panels = figure.subplots(1, len(projections), squeeze=False)[0]
        for axes, projection in zip(panels, projections, strict=True):
            _draw_panel(axes, projection)
    return figure


def _draw_panel(axes: Axes, projection: Projection) -> None:
    """Draw the sentences of one group."""
    # the points
    points = projection.points  # (sentences, 2)
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=14,
        color=COLORS[0],
        zorder=3,
    )
    axes.margins(0.1)

    # the axes
    x_fraction, y_fraction = projection.variance_fractions
    axes.set_xlabel(f"First principal component ({100 * x_fraction:.0f}% of the variance)", fontsize=8)
    axes.set_ylabel(f"Second principal component ({100 * y_fraction:.0f}% of the variance)", fontsize=8)
    axes.tick_params(labelsize=7)
    add_grid(axes)

    # the sentences
    if len(projection.sentences) <= _MAX_LABELS:
        labels = []
        for (x, y), sentence in zip(points.tolist(), projection.sentences, strict=True):
            labels.append(PointLabel(x, y, sentence, "0.6"))
        write_labels(
            axes,
            labels,
            max_line_length=90,
            line_height_fraction=0.034,
            margin_fraction=1,
            fontsize=7,
        )
