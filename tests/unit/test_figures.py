"""Figures 2 and 3: what is drawn, how it looks in pixels, and the same bytes each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread

from nmt.errors import UserError
from nmt.evaluation import BleuCounts
from nmt.figure3 import choose_sentences, figure3
from nmt.figures import save
from nmt.records import Record
from nmt.score_figures import figure2, unknown_words
from nmt.settings import Report
from tests.report_settings import report_settings

ROOT = Path(__file__).parents[2]
LABELS = {
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-30": "RNNsearch-30",
    "rnnencdec-50": "RNNencdec-50",
    "rnnencdec-30": "RNNencdec-30",
}
SETTINGS = report_settings(LABELS, figure2_models=list(LABELS))
REPORT = Report.model_validate(SETTINGS)


def score(best: int, longest: int) -> dict[str, Any]:
    """Scores whose translations get worse with length, from about `best` percent right."""
    rows = []
    for words in range(3, longest + 1):
        right = max(1, best - words)
        counts = BleuCounts(1, (right,) * 4, (100,) * 4, 100, 100)
        rows.append(
            {
                "source_length": words,
                "reference_length": words + 5,
                "source_unknown": words // 10,
                **counts.as_dict(),
            }
        )
    return {"by_sentence": rows}


def scores(best: int = 30, longest: int = 70) -> dict[str, dict[str, Any]]:
    return {model: score(best - index, longest) for index, model in enumerate(LABELS)}


def record(line: int, words: int, weights: list[list[float]] | None = None) -> Record:
    source = [f"s{line}"] * words
    if weights is None:
        weights = (np.eye(words + 1) * 0.5 + 0.25).tolist()
    return Record(line, source, ["m"] * words, weights)


def only_axes(figure: Figure) -> Axes:
    [axes] = figure.get_axes()
    return axes


def curves(figure: Figure) -> Axes:
    axes, _ = figure.get_axes()
    return axes


def x_label(figure: Figure) -> str:
    _, below = figure.get_axes()
    return str(below.get_xlabel())


def test_figure2_has_the_papers_axes_and_legend() -> None:
    axes = curves(figure2(scores(), REPORT))
    assert axes.get_ylabel() == "BLEU score"
    assert x_label(figure2(scores(), REPORT)) == "Sentence length"
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 60), (0, 30))
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["RNNsearch-50", "RNNsearch-30", "RNNenc-50", "RNNenc-30"]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.get_lines()}) == 4
    assert len({line.get_linestyle() for line in axes.get_lines()}) == 4


def test_figure2_draws_windows_to_the_end_of_the_axis() -> None:
    line = curves(figure2(scores(), REPORT)).get_lines()[0]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert (x[0], x[-1]) == (3, 60)
    # the window of 20 holds the lengths 15 to 24, with 15 to 6 right of 100
    assert y[x == 20] == pytest.approx(10.5)


def test_figure2_says_whose_length_it_is() -> None:
    by_reference = REPORT.model_copy(update={"figure2_length": "reference"})
    assert x_label(figure2(scores(), by_reference)) == "Sentence length (reference)"
    line = curves(figure2(scores(), by_reference)).get_lines()[0]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert x[0] == 8, "the references are five words longer"
    assert y[x == 25] == pytest.approx(10.5)
    both = REPORT.model_copy(update={"figure2_length": "both"})
    assert x_label(figure2(scores(), both)) == "Sentence length (source and reference)"


@pytest.mark.parametrize(("best", "top"), [(20, 30), (33, 30), (50, 50), (103, 100)])
def test_figure2_grows_for_better_scores(best: int, top: int) -> None:
    assert curves(figure2(scores(best), REPORT)).get_ylim() == (0, top)


def test_figure2_follows_the_longest_sentence() -> None:
    line = curves(figure2(scores(longest=25), REPORT)).get_lines()[0]
    assert max(np.asarray(line.get_xdata())) == 25


def test_figure2_shows_intervals_and_how_many_sentences_there_are() -> None:
    with_bands = REPORT.model_copy(update={"bootstrap_samples": 10})
    axes, below = figure2(scores(longest=20), with_bands).get_axes()
    assert len(axes.collections) == 4
    assert "95% of 10 bootstrap samples" in axes.get_title("left")
    numbers = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in below.patches}
    assert numbers == {words: int(3 <= words <= 20) for words in range(1, 61)}
    assert not figure2(scores(longest=20), REPORT).get_axes()[0].collections


def test_bleu_falls_with_unknown_words() -> None:
    axes, below = unknown_words(scores(longest=40), REPORT).get_axes()
    line = axes.get_lines()[0]
    assert list(line.get_xdata()) == [0, 1, 2, 3, 4]
    values = list(np.asarray(line.get_ydata()))
    assert values == sorted(values, reverse=True)
    assert [bar.get_height() for bar in below.patches] == [7, 17, 27, 37, 38]
    assert below.get_xlabel() == "Unknown words in the source"


def test_figure2_misses_a_score() -> None:
    with pytest.raises(UserError, match="names 'rnnencdec-30', which has no score"):
        figure2({model: score(30, 60) for model in list(LABELS)[:3]}, REPORT)


def test_figure3_shows_words_as_people_write_them() -> None:
    weights = np.full((3, 4), 0.25).tolist()
    one = Record(0, ["&quot;", "It", "costs$"], ["œuvre", "l&apos;"], weights)
    axes = only_axes(figure3([one]))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ['"', "It", "costs$", "<end>"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["œuvre", "l'", "<end>"]
    assert axes.xaxis.get_ticks_position() == "top"
    assert {tick.get_rotation() for tick in axes.get_xticklabels()} == {90}
    assert [text.get_text() for text in axes.texts] == ["(a)"]


def test_figure3_without_end_symbol_has_no_place_for_it() -> None:
    unfinished = Record(0, ["a", "b"], ["c"], [[0.5, 0.5]])
    axes = only_axes(figure3([unfinished]))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["c"]


def test_figure3_pixels_are_square_grey_and_black_for_0(tmp_path: Path) -> None:
    weights = [[0.0, 1.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    figure = figure3([Record(0, ["a", "b", "c"], ["d", "e"], weights)])
    save(figure, tmp_path / "f.pdf", tmp_path / "f.png")
    picture = imread(tmp_path / "f.png")[:, :, :3]
    height, width = picture.shape[:2]
    axes = only_axes(figure)
    box = axes.get_position()
    columns, rows = (box.x1 - box.x0) * width / 4, (box.y1 - box.y0) * height / 3
    assert columns == pytest.approx(rows, rel=0.03)
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            y, x = int((1 - box.y1) * height + (i + 0.5) * rows), int(box.x0 * width + (j + 0.5) * columns)
            assert picture[y, x] == pytest.approx([weight] * 3, abs=0.01), (i, j)


def test_figure3_panels_do_not_touch() -> None:
    weights = np.full((16, 13), 0.1).tolist()
    long = Record(1, ["anticonstitutionally"] * 12, ["anticonstitutionnellement"] * 15, weights)
    figure = figure3([record(0, 19), long, record(2, 10), record(3, 20)])
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    boxes = [box for axes in figure.get_axes() if (box := axes.get_tightbbox(renderer))]
    assert [axes.texts[0].get_text() for axes in figure.get_axes()] == ["(a)", "(b)", "(c)", "(d)"]
    page = figure.bbox
    for index, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])


def test_sentences_are_drawn_as_in_the_paper() -> None:
    everything = [record(line, 5 + line % 30) for line in range(120)]
    known = [one for one in everything if one.line % 2]
    choice = choose_sentences(everything, known, (10, 20), seed=1)
    assert choice.compromise == ""
    assert len({one.line for one in choice.records}) == 4
    assert all(10 <= len(one.source) <= 20 for one in choice.records)
    assert all(one.line % 2 for one in choice.records[1:])
    again = choose_sentences(everything, known, (10, 20), seed=1)
    assert [one.line for one in again.records] == [one.line for one in choice.records]
    others = [choose_sentences(everything, known, (10, 20), seed).records for seed in range(2, 5)]
    assert any([one.line for one in other] != [one.line for one in choice.records] for other in others)


def test_the_papers_own_sentences_take_panels_b_to_d() -> None:
    everything = [record(line, 12) for line in range(40)]
    choice = choose_sentences(everything, everything[:20], (10, 20), 1, ["s30 s30", "s7 s7", "absent"])
    assert [one.line for one in choice.records[1:3]] == [30, 7]
    assert choice.records[3].line < 20
    assert len({one.line for one in choice.records}) == 4


def test_too_few_sentences_are_filled_up_and_said() -> None:
    known = [record(0, 12), record(1, 30)]
    choice = choose_sentences([*known, record(2, 40), record(3, 50)], known, (10, 20), seed=1)
    assert [one.line for one in choice.records[1:3]] == [0, 1]
    assert sorted(one.line for one in choice.records) == [0, 1, 2, 3]
    assert "only 1 of 3" in choice.compromise and "10 to 20 words" in choice.compromise


def test_no_attention_no_figure3() -> None:
    plain = [Record(0, ["a"], ["b"], None)]
    with pytest.raises(UserError, match="RNNsearch"):
        choose_sentences(plain, plain, (10, 20), seed=1)


def draw(verb: str, folder: Path, hash_seed: str, *arguments: str | Path) -> tuple[bytes, bytes]:
    """Run a figure's verb in a process of its own; return its PDF and PNG."""
    outputs = ["--output-pdf", folder / "f.pdf", "--output-png", folder / "f.png"]
    command = [sys.executable, "-m", "nmt", verb, *map(str, arguments), *map(str, outputs)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return (folder / "f.pdf").read_bytes(), (folder / "f.png").read_bytes()


def test_figure2_verb_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    arguments: list[str | Path] = ["--settings", json.dumps(SETTINGS)]
    for model, value in scores().items():
        (tmp_path / model).write_text(json.dumps({"model": model, **value}))
        arguments += ["--score", tmp_path / model]
    pdf, png = draw("figure2", tmp_path, "1", *arguments)
    assert (pdf, png) == draw("figure2", tmp_path, "2", *arguments)
    assert b"/Type3" not in pdf and b"CreationDate" not in pdf and b"/CIDFontType2" in pdf


def test_figure3_verb_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    lines = []
    for line in range(12):
        one = record(line, 8 + line)
        text = " ".join([*one.target[:-1], "été"])
        value = {"line": line, "source": " ".join(one.source), "text": text, "alignment": one.alignment}
        lines.append(json.dumps(value) + "\n")
    (tmp_path / "all.jsonl").write_text("".join(lines))
    (tmp_path / "no_unk.jsonl").write_text("".join(lines[::2]))
    arguments = (
        "--all",
        tmp_path / "all.jsonl",
        "--no-unk",
        tmp_path / "no_unk.jsonl",
        "--settings",
        json.dumps(SETTINGS),
    )
    pdf, png = draw("figure3", tmp_path, "1", *arguments)
    assert (pdf, png) == draw("figure3", tmp_path, "2", *arguments)
    assert b"/Type3" not in pdf and b"CreationDate" not in pdf
