"""Parts of several figures: the line of a model, the grid, curves of BLEU, and labels of points that do not overlap."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb

from pipeline.config.artifacts import ReportSettings
from pipeline.results.sentence_groups import BleuPoint

_MODEL_TYPE_COLORS: dict[str | None, str] = {
    "rnnsearch": "#0072B2",  # blue: attention
    "rnnencdec": "#D55E00",  # orange: one vector for the sentence
    "grconv": "#E69F00",
    "lstm": "#CC79A7",
}
"""Colour of each model type, in every figure of every experiment (Okabe and Ito's, for colour-blind readers)."""
_OTHER_SYSTEM_COLOR = "#666666"
"""Grey, for systems that are not neural: Moses."""
DASHES = ("-", "--", "-.", ":")
"""Line styles, which tell models of one type apart."""
_BAND_OPACITY = 0.15


class PointLabel(NamedTuple):
    """A text for the point (x, y), and the colour of the line between text and point."""

    x: float
    y: float
    text: str
    color: str


def line_style(model: str, settings: ReportSettings) -> dict[str, Any]:
    """Return colour and dashes of a model or system: the colour shows its type, the dashes which model of this type.

    Dashes are given in the order of Figure 2, then to the other models in the order of the settings.
    """
    models = dict.fromkeys([*settings.figure2_models, *settings.labels, model])
    model_type = settings.model_types.get(model)
    models_of_type = [name for name in models if settings.model_types.get(name) == model_type]
    cycle, index = divmod(models_of_type.index(model), len(DASHES))

    # if there are more models than dashes, the colours of each further cycle are lighter
    color = np.array(to_rgb(_MODEL_TYPE_COLORS.get(model_type, _OTHER_SYSTEM_COLOR)))
    lighter_color = 1 - (1 - color) * 0.6**cycle
    return {"color": to_hex(tuple(lighter_color)), "linestyle": DASHES[index]}


def add_grid(axes: Axes) -> None:
    """Add grid lines below the data."""
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)


def draw_bleu_curve(axes: Axes, points: Sequence[BleuPoint], color: str, **style: Any) -> None:
    """Draw a curve and the band of its intervals, with gaps where a point has too few sentences."""
    xs = [point.x for point in points]
    intervals = [point.interval or (math.nan, math.nan) for point in points]
    if any(point.interval for point in points):
        lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
        axes.fill_between(xs, lows, highs, color=color, alpha=_BAND_OPACITY, linewidth=0)
    values = [math.nan if point.bleu is None else point.bleu for point in points]
    axes.plot(xs, values, color=color, **style)


def write_labels(
    axes: Axes,
    labels: Sequence[PointLabel],
    max_line_length: int,
    line_height_fraction: float,
    margin_fraction: float,
    fontsize: str | float,
) -> None:
    """Write each text to the right of its point, with a line to the point.

    Args:
        axes: the axes, with their final limits.
        labels: the texts and their points.
        max_line_length: characters of a line of text; longer texts are broken.
        line_height_fraction: height of a line of text, as a fraction of the y axis.
        margin_fraction: if a point is in this last fraction of the x axis, its text is to the right of the axis.
        fontsize: the size of the texts.
    """
    # 1. the points as fractions of the axes, which may be logarithmic, and the height of each text
    axes.autoscale_view()  # otherwise matplotlib would compute the limits of the axes only when it draws them
    to_fractions = axes.transData + axes.transAxes.inverted()
    points = [to_fractions.transform((label.x, label.y)) for label in labels]
    texts = [textwrap.wrap(label.text, max_line_length) for label in labels]
    heights = [line_height_fraction * (len(lines) + 0.4) for lines in texts]

    # 2. the texts, moved up or down so that none overlap
    positions = spread_positions([y for _, y in points], heights)
    for label, (x, _), lines, position in zip(labels, points, texts, positions, strict=True):
        text_x = 1.0 if x > 1 - margin_fraction else x
        axes.annotate(
            "\n".join(lines),
            xy=(label.x, label.y),
            xytext=(text_x + 0.02, position),
            textcoords="axes fraction",
            va="center",
            fontsize=fontsize,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": label.color,
                "linewidth": 0.7,
                "linestyle": ":",  # unlike a curve
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 0,
            },
        )


def spread_positions(desired_positions: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return positions for the middles of labels of these heights, without overlap and near the desired positions.

    If there is room for all labels, they are between 0 and 1.
    """
    order = sorted(range(len(heights)), key=lambda index: desired_positions[index])
    positions = list(desired_positions)

    # from below, move each label above the one before it
    floor = 0.0
    for index in order:
        positions[index] = max(positions[index], floor + heights[index] / 2)
        floor = positions[index] + heights[index] / 2

    # from above, move the labels that are beyond the end back
    ceiling = 1.0
    for index in reversed(order):
        positions[index] = min(positions[index], ceiling - heights[index] / 2)
        ceiling = positions[index] - heights[index] / 2
    return positions
