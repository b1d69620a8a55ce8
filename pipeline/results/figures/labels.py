"""Labels beside points, none over another."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes

Point = tuple[float, float, str, str]
"""x, y, text and colour."""


def label(
    axes: Axes, points: Sequence[Point], letters: int, line: float, near: float, fontsize: str | float
) -> None:
    """Write each point's text to its right, with a line to the point.

    Args:
        axes: with their final limits.
        points: where the texts belong.
        letters: of a line of text, which is broken there.
        line: height of a line as a share of the axis.
        near: from this share of the axis to its end, texts stand behind the end.
        fontsize: of the texts.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    texts = [textwrap.wrap(text, letters) for _, _, text, _ in points]
    heights = [line * (top - bottom) * (len(lines) + 0.4) for lines in texts]
    places = spread([y - bottom for _, y, _, _ in points], heights, top - bottom)
    for (x, y, _, color), lines, place in zip(points, texts, places, strict=True):
        behind = right if x > right - near * (right - left) else x
        axes.annotate(
            "\n".join(lines),
            (x, y),
            (behind + 0.02 * (right - left), bottom + place),
            va="center",
            fontsize=fontsize,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0},
        )


def spread(wanted: Sequence[float], heights: Sequence[float], top: float) -> list[float]:
    """Places near the wanted ones for labels of these heights, between 0 and `top` if they fit, none over another."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    places, floor = [0.0] * len(wanted), 0.0
    for index in order:
        places[index] = max(wanted[index], floor + heights[index] / 2)
        floor = places[index] + heights[index] / 2
    ceiling = top
    for index in reversed(order):
        places[index] = min(places[index], ceiling - heights[index] / 2)
        ceiling = places[index] - heights[index] / 2
    return places
