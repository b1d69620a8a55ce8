"""The figure of a sweep over decoding settings: BLEU against the beam width, one panel per model."""

from __future__ import annotations

import math
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from nmt.plots.style import COLORS, drawing
from nmt.settings.decoding import Decoding
from pipeline.config.artifacts import Report
from pipeline.report.tables.decoding_sweep import Curve, Sweeps, curves, is_configured

_WIDTH, _PANEL_HEIGHT, _LEGEND_HEIGHT = 6.4, 2.9, 0.9
_COLUMNS = 2
_SEARCHES = (("half", "allowed"), ("none", "allowed"), ("half", "excluded"), ("none", "excluded"))
"""One colour per shortest length and treatment of the unknown word."""
_RANKINGS: dict[bool, tuple[Literal["-", "--"], Literal["o", "s"]]] = {False: ("-", "o"), True: ("--", "s")}
"""Line and marker without and with division by length."""
_STROKES: dict[str, dict[str, Any]] = {
    "half": {"linewidth": 3.2, "markersize": 5.0, "zorder": 2.0},
    "none": {"linewidth": 1.2, "markersize": 2.6, "zorder": 2.1},
}
"""Broad below fine: often a shortest translation changes nothing, and one line lies on the other."""
_SHORTEST = {"half": "At least half the source's length", "none": "Of any length"}
_RANKED = {False: "By log-probability", True: "By log-probability divided by length"}
_RING: dict[str, Any] = {
    **{"marker": "o", "markersize": 8, "markerfacecolor": "none", "markeredgecolor": "black"},
    **{"markeredgewidth": 1.2, "linestyle": "none", "zorder": 3},
}


def sweep_figure(sweeps: Sweeps, configured: Decoding, settings: Report) -> Figure:
    """BLEU of the whole test set against the beam width; what `decoding` says is ringed.

    Colour: when a translation may end, and whether [UNK] may be written. Line: division by length. Each panel has
    an axis of its own, since models lie further apart than settings.
    """
    columns = min(_COLUMNS, len(sweeps))
    rows = math.ceil(len(sweeps) / columns)
    found = {model: curves(sweep) for model, sweep in sweeps.items()}
    with drawing():
        figure = Figure(figsize=(_WIDTH, rows * _PANEL_HEIGHT + _LEGEND_HEIGHT), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).flatten()
        for axes, (model, lines) in zip(panels, found.items(), strict=False):
            _draw(axes, lines, configured)
            axes.set_title(settings.label(model), fontsize=10)
        for axes in panels[len(sweeps) :]:
            axes.set_axis_off()
        every = [curve for lines in found.values() for curve in lines]
        ringed = any(is_configured(row, configured) for curve in every for row in curve.rows)
        entries = _entries(every, ringed)
        figure.legend(handles=entries, loc="outside lower center", ncols=2, fontsize=8, handlelength=3.2)
    return figure


def _draw(axes: Axes, lines: list[Curve], configured: Decoding) -> None:
    """One model's panel."""
    for curve in lines:
        normalize, min_length, unknown = curve.combination
        style, marker = _RANKINGS[normalize]
        color = COLORS[_SEARCHES.index((min_length, unknown))]
        beams, values = zip(*((row["beam"], row["bleu"]) for row in curve.rows), strict=True)
        axes.plot(beams, values, color=color, linestyle=style, marker=marker, **_STROKES[min_length])
        for row in curve.rows:
            if is_configured(row, configured):
                axes.plot([row["beam"]], [row["bleu"]], **_RING)
    axes.set_xlabel("Beam width")
    axes.set_ylabel("BLEU score")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)


def _entries(lines: list[Curve], ringed: bool) -> list[Artist]:
    """The legend: what colours, lines and the ring say, as far as they are drawn."""
    searches = [search for search in _SEARCHES if any(curve.combination[1:] == search for curve in lines)]
    rankings = [ranking for ranking in _RANKINGS if any(curve.combination[0] == ranking for curve in lines)]
    colors = [
        Line2D([], [], color=COLORS[_SEARCHES.index(search)], label=_said(*search), **_STROKES[search[0]])
        for search in searches
    ]
    styles = [
        Line2D([], [], color="0.3", linestyle=style, marker=marker, markersize=2.6, label=_RANKED[ranking])
        for ranking, (style, marker) in _RANKINGS.items()
        if ranking in rankings
    ]
    ring = [Line2D([], [], label="As configured", **_RING)] if ringed else []
    return [*colors, *styles, *ring]


def _said(min_length: str, unknown: str) -> str:
    return f"{_SHORTEST[min_length]}, [UNK] {unknown}"
