"""What figures say of themselves, and that equal figures are equal bytes."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from nmt.plots.style import save_figure
from pipeline.results.build import described


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
        save_figure(curves(), tmp_path / f"{name}.png", described(curves()))
    with Image.open(tmp_path / "one.png") as picture:
        assert picture.info["Description"] == described(curves())
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
