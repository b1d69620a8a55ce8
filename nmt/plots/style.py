"""Draws, describes and saves figures.

Equal input gives equal bytes: figures have no dates and ignore the user's settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.lines import Line2D
from matplotlib.transforms import BboxBase

from nmt.errors import UserError
from nmt.io.files import atomic_path

_FONT = "DejaVu Sans"
"""This font comes with matplotlib, so it is the same everywhere."""
_FALLBACKS = (
    "Noto Sans Bengali", "Lohit Bengali", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "Droid Sans Fallback",
    "Noto Sans Devanagari", "Lohit Devanagari", "Noto Sans Gujarati", "Lohit Gujarati", "Noto Sans Gurmukhi",
    "Lohit Gurmukhi", "Noto Sans Kannada", "Lohit Kannada", "Noto Sans Malayalam", "Lohit Malayalam",
    "Noto Sans Meetei Mayek", "Noto Sans Oriya", "Lohit Odia", "Noto Sans Tamil", "Lohit Tamil", "Noto Sans Telugu",
    "Lohit Telugu",
)  # fmt: skip
"""Fonts for scripts of Moses' languages that the font lacks, in the order of preference."""
_STYLE = {
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "text.parse_math": False,  # words may hold dollar signs
    "savefig.dpi": 200,
    "svg.hashsalt": "nmt",  # identifiers would be random
}
COLORS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which are safe for colour-blind readers, without yellow, too light for lines on white."""
DASHES = ("-", "-.", "--", ":", (0, (6, 1)), (0, (4, 1, 1, 1, 1, 1)), (0, (1, 3)))
"""A line style for each colour, so that lines also differ in greyscale."""
_AROUND = 4
"""Margin around a panel in pixels, since letters are wider at some resolutions than at others."""
_TOLD = 3
"""Number of points of a line in its description."""


_UNWANTED = {"pdf": "CreationDate", "svg": "Date", "png": "Software"}
"""Metadata that would change the bytes of the same figure."""


@contextmanager
def drawing() -> Iterator[None]:
    """Use the settings of all figures, and none of the user's."""
    with style.context(["default", _STYLE | {"font.family": _families()}]):
        yield


@cache
def _families() -> list[str]:
    """Return the font, and the installed fonts for scripts that it lacks."""
    installed = {font.name for font in fontManager.ttflist}
    return [_FONT, *(name for name in _FALLBACKS if name in installed)]


def save(figure: Figure, pdf: Path, png: Path) -> None:
    """Write both formats, each whole or not at all, without dates."""
    save_as(figure, pdf)
    save_as(figure, png)


def save_as(figure: Figure, path: Path) -> None:
    """Write the format of the suffix (.pdf, .svg or .png), whole or not at all, without dates."""
    form = path.suffix[1:]
    if form not in _UNWANTED:
        raise UserError(f"{path}: expected a name that ends in {', '.join(f'.{form}' for form in _UNWANTED)}")
    with drawing(), atomic_path(path) as temporary:
        metadata: dict[str, str | None] = {_UNWANTED[form]: None}
        if form == "png":
            metadata["Description"] = described(figure)
            if len(panels := _matrices(figure)) > 1:
                metadata["Panels"] = json.dumps(panels, ensure_ascii=False)
        figure.savefig(temporary, format=form, metadata=metadata)


def _matrices(figure: Figure) -> list[dict[str, Any]]:
    """Return the place of each matrix in a figure: `box` with its words, `matrix` without them.

    Both are left, upper, right and lower edge, as fractions of the figure's width and height from the upper left. On a
    narrow screen, a page shows the panels below each other.
    """
    width, height = figure.bbox.size

    def shares(place: BboxBase) -> list[float]:
        edges = (place.x0 / width, 1 - place.y1 / height, place.x1 / width, 1 - place.y0 / height)
        return [round(min(1.0, max(0.0, edge)), 4) for edge in edges]

    return [
        {
            "box": shares((axes.get_tightbbox() or axes.bbox).padded(_AROUND)),
            "matrix": shares(axes.get_window_extent()),
            "seen": _panel(axes, ""),
        }
        for axes in figure.axes
        if axes.images
    ]


def described(figure: Figure) -> str:
    """Describe the figure in words, for the alternative text of the picture in the report."""
    shared = next((axes.get_xlabel() for axes in reversed(figure.axes) if axes.get_xlabel()), "")
    return " ".join(filter(None, (_panel(axes, shared) for axes in figure.axes)))


def _panel(axes: Axes, shared: str) -> str:
    """Describe named lines by their first, middle and last point, and a matrix by the words on its sides."""
    if axes.images:
        source, target = (
            " ".join(label.get_text() for label in labels)
            for labels in (axes.get_xticklabels(), axes.get_yticklabels())
        )
        letter = " ".join(text.get_text() for text in axes.texts)
        return f"{letter} attention between “{source}” and “{target}”."
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    named = [f"{line.get_label()} {points}" for line in lines if (points := _points(line))]
    what = " ".join(filter(None, [axes.get_title(), axes.get_ylabel().replace("\n", " ")])) or "Values"
    return f"{what} against {axes.get_xlabel() or shared}: {'; '.join(named)}." if named else ""


def _points(line: Line2D) -> str:
    """Describe some points as `y at x`."""
    xs, ys = (np.ravel(np.asarray(values, dtype=float)) for values in line.get_data())
    finite = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
    if not len(finite):
        return ""
    some = dict.fromkeys(finite[np.linspace(0, len(finite) - 1, _TOLD).round().astype(int)].tolist())
    return ", ".join(f"{ys[place]:.3g} at {xs[place]:,.6g}" for place in some)
