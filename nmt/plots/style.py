"""The style of figures, and how they are saved.

Equal input gives equal bytes: figures have no dates and ignore the user's settings.
"""

from __future__ import annotations

import re
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
from nmt.io.messages import print_warning

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
_MISSING_GLYPH = re.compile(r"Glyph (?P<code>\d+) .* missing from font")
"""matplotlib's warning of a letter that no font has."""


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw the figures of the block in the project's style, not in the user's. Then name letters that no font has."""
    with (
        style.context(["default", _STYLE | {"font.family": _list_font_names()}]),
        warnings.catch_warnings(record=True) as caught_warnings,
    ):
        warnings.simplefilter("always")
        yield

    # name missing letters once, and pass on all other warnings
    missing_letters: list[str] = []
    for warning in caught_warnings:
        match = _MISSING_GLYPH.match(str(warning.message))
        if match:
            missing_letters.append(chr(int(match["code"])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing_letters:
        _announce_missing_letters(" ".join(dict.fromkeys(missing_letters)))


@cache  # so that the same letters are printed once
def _announce_missing_letters(letters: str) -> None:
    """Print which letters of a figure no font has."""
    print_warning(
        f"no installed font has {letters}: boxes stand in their place (docs/running.md names fonts)"
    )


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
