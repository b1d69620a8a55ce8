"""How figures are drawn and saved.

Equal input gives equal bytes: no dates, and no settings of the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from nmt.errors import UserError
from nmt.io.files import atomic_path

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "text.parse_math": False,  # words may hold dollar signs
    "savefig.dpi": 200,
    "svg.hashsalt": "nmt",  # identifiers would be random
}
COLORS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's, for colour-blind eyes too; without their yellow, which is too light for a line on white."""


_UNWANTED = {"pdf": "CreationDate", "svg": "Date", "png": "Software"}
"""What would make the same figure other bytes."""


@contextmanager
def drawing() -> Iterator[None]:
    """Settings of every figure, and none of the user's."""
    with style.context(["default", _STYLE]):
        yield


def save(figure: Figure, pdf: Path, png: Path) -> None:
    """Write both forms, each whole or not at all, without dates."""
    save_as(figure, pdf)
    save_as(figure, png)


def save_as(figure: Figure, path: Path) -> None:
    """Write the form that the suffix names, .pdf, .svg or .png, whole or not at all, without dates."""
    form = path.suffix[1:]
    if form not in _UNWANTED:
        raise UserError(f"{path}: expected a name that ends in {', '.join(f'.{form}' for form in _UNWANTED)}")
    with drawing(), atomic_path(path) as temporary:
        figure.savefig(temporary, format=form, metadata={_UNWANTED[form]: None})
