"""What figures say of themselves, and that equal figures are equal bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, findfont, fontManager
from PIL import Image

from nmt.plots import style
from nmt.plots.style import described, drawing, save


def curves() -> Figure:
    figure = Figure()
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot([1, 2, 3, 4], [90, float("nan"), 80, 70.25], label="RNNsearch-50")
    above.plot([1, 2], [1, 2])  # without a name
    above.plot([], [], label="nothing")
    above.set_ylabel("BLEU\nscore")
    below.bar([1, 2], [3, 4])
    below.set_xlabel("Länge – words")
    return figure


def test_lines_are_told_by_their_first_and_last_points() -> None:
    assert described(curves()) == "BLEU score, RNNsearch-50: 90 at 1, 70.2 at 4."


def test_a_saved_picture_holds_its_description_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "other"):
        save(curves(), tmp_path / f"{name}.pdf", tmp_path / f"{name}.png")
    with Image.open(tmp_path / "one.png") as picture:
        assert picture.info["Description"] == described(curves())
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_letters_are_drawn_with_what_is_installed_and_told_where_nothing_has_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A font may be newer than matplotlib's list of them."""
    known = [font for font in fontManager.ttflist if font.name == "DejaVu Sans"]
    monkeypatch.setattr(fontManager, "ttflist", [*known, FontEntry(fname="x", name="Lohit Tamil")])
    new = shutil.copy(findfont("cmr10"), tmp_path / "new.ttf")
    monkeypatch.setattr(style, "findSystemFonts", lambda: [str(new), __file__])
    style._families.cache_clear()
    with drawing():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans", "Lohit Tamil"]
    assert fontManager.ttflist[-1].fname == str(new)
    monkeypatch.setattr(fontManager, "ttflist", known)
    style._families.cache_clear()
    figure = Figure()
    figure.text(0.5, 0.5, "中 a 国")
    save(figure, tmp_path / "f.pdf", tmp_path / "f.png")
    (line,) = capfd.readouterr().err.splitlines()
    assert "中 国" in line
    style._families.cache_clear()
