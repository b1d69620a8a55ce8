"""Fonts of figures."""

from __future__ import annotations

import shutil
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, findfont, fontManager

from nmt.plots import style
from nmt.plots.style import figure_style, save_figure


def test_letters_are_drawn_with_what_is_installed_and_told_where_nothing_has_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A font may be newer than matplotlib's list of them."""
    known = [font for font in fontManager.ttflist if font.name == "DejaVu Sans"]
    monkeypatch.setattr(fontManager, "ttflist", [*known, FontEntry(fname="x", name="Lohit Tamil")])
    new = shutil.copy(findfont("cmr10"), tmp_path / "new.ttf")
    monkeypatch.setattr(style, "findSystemFonts", lambda: [str(new), __file__])
    style._families.cache_clear()
    with figure_style():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans", "Lohit Tamil"]
    assert fontManager.ttflist[-1].fname == str(new)
    monkeypatch.setattr(fontManager, "ttflist", known)
    style._families.cache_clear()
    figure = Figure()
    figure.text(0.5, 0.5, "中 a 国")
    save_figure(figure, tmp_path / "f.png")
    (line,) = capfd.readouterr().err.splitlines()
    assert "中 国" in line
    style._families.cache_clear()
