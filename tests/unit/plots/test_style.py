"""Fonts of figures."""

import shutil

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, findfont, fontManager

from nmt.plots import style


def test_fonts_of_other_scripts(monkeypatch, tmp_path, capfd):
    """Installed fonts are used, even those newer than matplotlib's list, and letters that no font has are named."""
    own_fonts = [font for font in fontManager.ttflist if font.name == "DejaVu Sans"]
    other_fonts = [FontEntry(fname="x", name=name) for name in ("Noto Sans Thai", "Lohit Tamil")]
    monkeypatch.setattr(fontManager, "ttflist", [*own_fonts, *other_fonts])
    new_font = shutil.copy(findfont("cmr10"), tmp_path / "new.ttf")
    monkeypatch.setattr(style, "findSystemFonts", lambda: [str(new_font), __file__])
    style._list_font_names.cache_clear()
    with style.figure_style():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans", "Lohit Tamil", "Noto Sans Thai"]
    assert fontManager.ttflist[-1].fname == str(new_font)

    monkeypatch.setattr(fontManager, "ttflist", own_fonts)
    style._list_font_names.cache_clear()
    figure = Figure()
    figure.text(0.5, 0.5, "中 a 国")
    style.save_figure(figure, tmp_path / "f.png")
    (line,) = capfd.readouterr().err.splitlines()
    assert "中 国" in line
    style._list_font_names.cache_clear()
