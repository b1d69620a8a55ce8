"""Sentences in the plane of their vectors' principal components (Sutskever et al., 2014, Fig. 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from nmt.evaluation.principal_components import Panel
from nmt.plots.style import COLORS, drawing

_PANEL_WIDTH, _HEIGHT = 5.2, 4.2
_MOST_LABELS = 40
"""Sentences of a panel that are written out; of more there would be nothing but ink."""


def sentence_vectors(panels: Sequence[Panel]) -> Figure:
    """A panel for each group of sentences, each sentence at its point."""
    with drawing():
        figure = Figure(figsize=(_PANEL_WIDTH * len(panels), _HEIGHT), layout="constrained")
        canvas = FigureCanvasAgg(figure)
        every = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(every, panels, strict=True):
            _draw(axes, panel)
        canvas.draw()  # type: ignore[no-untyped-call]  # where labels fit is known once the axes have their places
        figure.set_layout_engine("none")
        for axes, panel in zip(every, panels, strict=True):
            if len(panel.sentences) <= _MOST_LABELS:
                _label(axes, panel, canvas)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    axes.scatter(panel.points[:, 0], panel.points[:, 1], s=14, color=COLORS[0], zorder=3)
    axes.margins(0.35, 0.15)
    first, second = (f"component ({100 * share:.0f}% of the variance)" for share in panel.shares)
    axes.set_xlabel(f"First principal {first}", fontsize=8)
    axes.set_ylabel(f"Second principal {second}", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)


def _label(axes: Axes, panel: Panel, canvas: FigureCanvasAgg) -> None:
    """Write each sentence beside its point, where it covers no other and no point, as near as there is room."""
    renderer: RendererBase = canvas.get_renderer()  # type: ignore[no-untyped-call]
    inside = axes.get_window_extent()
    points = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in axes.transData.transform(panel.points)]
    taken: list[Bbox] = []
    order = sorted(range(len(points)), key=lambda place: -panel.points[place, 1])
    for place in order:
        text = axes.annotate(
            panel.sentences[place], panel.points[place], (0, 0), textcoords="offset points", fontsize=7, zorder=4,
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
        )  # fmt: skip
        others = [box for other, box in enumerate(points) if other != place]
        box = None
        for offset, sides in _places():
            text.set(position=offset, ha=sides[0], va=sides[1])
            box = _extent(text, renderer)
            free = not any(box.overlaps(other) for other in (*taken, *others))
            if free and _within(box, inside):
                break
        assert box is not None
        taken.append(box)


def _places() -> Iterator[tuple[tuple[float, float], tuple[str, str]]]:
    """Offsets from a point in points, with the side of the text that is there, nearest first."""
    for distance in (5, 10, 16, 24, 34, 46, 60, 80):
        yield (distance, 0), ("left", "center")
        yield (-distance, 0), ("right", "center")
        for vertical, horizontal in product((distance, -distance), (0.0, distance, -distance)):
            side = "center" if not horizontal else "left" if horizontal > 0 else "right"
            yield (horizontal, vertical), (side, "bottom" if vertical > 0 else "top")


def _extent(text: Annotation, renderer: RendererBase) -> Bbox:
    """The words alone, without the line to the point."""
    text.update_positions(renderer)
    return Text.get_window_extent(text, renderer)


def _within(box: Bbox, frame: Bbox) -> bool:
    return bool(box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1)
