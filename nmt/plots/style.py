"""Draws and saves figures.

Equal input gives equal bytes: figures have no dates and ignore the user's settings.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.font_manager import findSystemFonts, fontManager

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
_UNWANTED = {"pdf": "CreationDate", "svg": "Date", "png": "Software"}
"""Metadata that would change the bytes of the same figure."""


@contextmanager
def figure_style() -> Iterator[None]:
    """Use the settings of all figures, and none of the user's; letters that no font has are named in one line."""
    with (
        style.context(["default", _STYLE | {"font.family": _families()}]),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        yield
    missing = dict.fromkeys(map(_missing, caught))
    for one in caught:
        if not _missing(one):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if letters := " ".join(filter(None, missing)):
        _name_missing(letters)


def _missing(warning: warnings.WarningMessage) -> str:
    """Return the letter that no font has, if a warning says so."""
    match = re.match(r"Glyph (\d+) .* missing from font", str(warning.message))
    return chr(int(match[1])) if match else ""


@cache
def _name_missing(letters: str) -> None:
    print(
        f"figures: no installed font has {letters}: boxes stand in their place (docs/faq.md names fonts)",
        file=sys.stderr,
    )


@cache
def _families() -> list[str]:
    """Return the font, and the installed fonts for scripts that it lacks; matplotlib's list may be older than they."""
    loaded = {font.fname for font in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - loaded):
        with suppress(Exception):  # a font that matplotlib cannot read
            fontManager.addfont(path)
    installed = {font.name for font in fontManager.ttflist}
    return [_FONT, *(name for name in _FALLBACKS if name in installed)]


def save_figure(figure: Figure, path: Path, description: str = "") -> None:
    """Write the format of the suffix (.pdf, .svg or .png), whole or not at all, without dates.

    A .png holds the description, for those who cannot see it.
    """
    form = path.suffix[1:]
    if form not in _UNWANTED:
        raise UserError(f"{path}: expected a name that ends in {', '.join(f'.{form}' for form in _UNWANTED)}")
    with figure_style(), atomic_path(path) as temporary:
        metadata: dict[str, str | None] = {_UNWANTED[form]: None}
        if form == "png":
            metadata["Description"] = description
        figure.savefig(temporary, format=form, metadata=metadata)
