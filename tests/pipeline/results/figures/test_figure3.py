"""Figure 3: which sentences it shows, how it looks in pixels."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from nmt.evaluation.translations import TranslationRecord
from nmt.plots.style import save_figure
from pipeline.results.figures.figure3 import choose_sentences, make_figure3


def record(line: int, words: int) -> TranslationRecord:
    weights = (np.eye(words + 1) * 0.5 + 0.25).tolist()
    return TranslationRecord(line=line, source=[f"s{line}"] * words, target=["m"] * words, alignment=weights)


def test_figure3_pixels(tmp_path: Path) -> None:
    weights = [[0.0, 1.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    source, target = ["&quot;", "It", "costs$"], ["œuvre", "l&apos;"]
    figure = make_figure3([TranslationRecord(line=0, source=source, target=target, alignment=weights)])
    [axes] = figure.get_axes()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ['"', "It", "costs$", "<end>"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["œuvre", "l'", "<end>"]
    assert [text.get_text() for text in axes.texts] == ["(a)"]

    for form in ("pdf", "png"):
        save_figure(figure, tmp_path / f"f.{form}")
    # equal figures are equal bytes
    assert b"CreationDate" not in (tmp_path / "f.pdf").read_bytes()
    picture = imread(tmp_path / "f.png")[:, :, :3]
    height, width = picture.shape[:2]
    box = axes.get_position()
    columns, rows = (box.x1 - box.x0) * width / 4, (box.y1 - box.y0) * height / 3
    assert columns == pytest.approx(rows, rel=0.03)
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            y, x = int((1 - box.y1) * height + (i + 0.5) * rows), int(box.x0 * width + (j + 0.5) * columns)
            assert picture[y, x] == pytest.approx([weight] * 3, abs=0.01), (i, j)


def test_figure3_sentences_are_sampled() -> None:
    everything = [record(line, 5 + line % 30) for line in range(120)]
    known = [one for one in everything if one.line % 2]
    choice = choose_sentences(everything, known, (10, 20), seed=1)
    assert len({one.line for one in choice}) == 4
    assert all(10 <= len(one.source) <= 20 for one in choice)
    assert all(one.line % 2 for one in choice[1:])
    assert choice == choose_sentences(everything, known, (10, 20), seed=1)
    assert choice != choose_sentences(everything, known, (10, 20), seed=2)


@pytest.mark.parametrize(("openings", "lines"), [(["s3 s3", "absent"], [3, 0, 1]), ([], [0, 1])])
def test_paper_sentences_come_first_and_others_fill_up(openings: list[str], lines: list[int]) -> None:
    known = [record(0, 12), record(1, 30)]
    everything = [*known, record(2, 40), record(3, 50)]
    choice = choose_sentences(everything, known, (10, 20), seed=1, openings=openings)
    assert [one.line for one in choice[1:]][: len(lines)] == lines
    assert sorted(one.line for one in choice) == [0, 1, 2, 3]
