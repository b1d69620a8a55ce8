"""The style of figures, and how they are saved.

Equal input gives equal bytes: figures have no dates and ignore the user's settings.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.font_manager import findSystemFonts, fontManager

from nmt.errors import UserError
from nmt.io.files import atomic_path

_FONT = "DejaVu Sans"
"""This font comes with matplotlib, so it is the same everywhere."""
_SCRIPTS = (
    "Bengali, CJK SC, CJK JP, Cherokee, Devanagari, Ethiopic, Gujarati, Gurmukhi, Kannada, Khmer, Malayalam, "
    "Meetei Mayek, Mongolian, Myanmar, Odia, Ol Chiki, Oriya, Sinhala, Syriac, Tamil, Telugu, Thaana, Thai, Tibetan"
)
"""Scripts that the font lacks, as names of fonts have them: a list, since matplotlib keeps each font open."""
_FALLBACKS = [f"{family} {script}" for script in _SCRIPTS.split(", ") for family in ("Noto Sans", "Lohit")]
_FALLBACKS += ["Noto Serif Tibetan", "WenQuanYi Zen Hei", "Droid Sans Fallback"]
"""Fonts for these scripts, in the order of preference."""
_STYLE = {
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "text.parse_math": False,  # words may hold dollar signs
    "savefig.dpi": 200,
    "svg.hashsalt": "nmt",  # identifiers would be random
}
COLORS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which are safe for colour-blind readers, without yellow, too light for lines on white."""
_OMITTED_METADATA_KEY = {"pdf": "CreationDate", "svg": "Date", "png": "Software"}
"""For each format, the key of the metadata that is left out, so that equal figures give equal bytes."""


def figure_style() -> AbstractContextManager[None]:
    """Return a context manager for drawing figures in the project's style, not in the user's."""
    return style.context(["default", _STYLE | {"font.family": _list_font_names()}])


@cache
def _list_font_names() -> list[str]:
    """Return the font of all figures, and the installed fonts for scripts that it lacks."""
    # matplotlib's list may be older than the fonts
    listed_paths = {font.fname for font in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - listed_paths):
        with suppress(Exception):  # a font that matplotlib cannot read
            fontManager.addfont(path)
    installed_names = {font.name for font in fontManager.ttflist}
    return [_FONT, *(name for name in _FALLBACKS if name in installed_names)]


def save_figure(figure: Figure, path: Path, description: str = "") -> None:
    """Write a figure atomically, in the format of the suffix (.pdf, .svg or .png).

    A .png holds the description as text, for those who cannot see the figure.
    """
    file_format = path.suffix[1:]
    if file_format not in _OMITTED_METADATA_KEY:
        raise UserError(f"{path}: expected a name that ends in .pdf, .svg or .png")
    # matplotlib leaves out a key whose value is None
    metadata: dict[str, str | None] = {_OMITTED_METADATA_KEY[file_format]: None}
    if file_format == "png":
        metadata["Description"] = description
    with figure_style(), atomic_path(path) as temporary:
        figure.savefig(temporary, format=file_format, metadata=metadata)
