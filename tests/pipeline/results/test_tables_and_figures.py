"""What figures say of themselves, and that equal figures are equal bytes."""

from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from nmt.plots.style import save_figure
from pipeline.results.tables_and_figures import describe_figure


def make_figure() -> Figure:
    figure = Figure()
    curve_axes, bar_axes = figure.subplots(2, 1, sharex=True)
    curve_axes.plot([1, 2, 3, 4], [90, float("nan"), 80, 70.25], label="RNNsearch-50")
    curve_axes.plot([1, 2], [1, 2])  # without a name
    curve_axes.plot([], [], label="nothing")
    curve_axes.set_ylabel("BLEU\nscore")
    bar_axes.bar([1, 2], [3, 4])
    bar_axes.set_xlabel("Länge – words")
    return figure


def test_png_has_the_description_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    description = describe_figure(make_figure())
    assert description == "BLEU score, RNNsearch-50: 90 at 1, 70.2 at 4."
    for name in ("one", "other"):
        save_figure(make_figure(), tmp_path / f"{name}.png", description)
    with Image.open(tmp_path / "one.png") as picture:
        assert picture.info["Description"] == description
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
