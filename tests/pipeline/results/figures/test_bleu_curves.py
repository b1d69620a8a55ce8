"""Figure 2 and BLEU against unknown words: axes, curves, intervals, labels."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt.evaluation.bleu import BleuCounts
from pipeline.config.artifacts import ReportSettings
from pipeline.results.figures.bleu_curves import plot_bleu_by_length, plot_bleu_by_unknown_words
from pipeline.results.figures.style import spread_positions
from tests.report_settings import report_settings

LABELS = {
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-30": "RNNsearch-30",
    "rnnencdec-50": "RNNencdec-50",
    "rnnencdec-30": "RNNencdec-30",
}
SETTINGS = report_settings(
    LABELS, figure2_models=list(LABELS), model_types={name: name.partition("-")[0] for name in LABELS}
)
REPORT = ReportSettings.model_validate(SETTINGS)
WITH_MOSES = REPORT.model_copy(update={"labels": LABELS | {"moses": "Moses"}})


def score(best: int, longest: int) -> dict[str, Any]:
    """Scores of ten sentences of each length, whose translations get worse with it, from about `best` percent right."""
    rows: list[dict[str, Any]] = []
    for words in range(3, longest + 1):
        right = max(1, best - words)
        counts = BleuCounts([right] * 4, [100] * 4, 100, 100)
        row = {"source_length": words, "reference_length": words + 5, "source_unknown": words // 10}
        rows += [row | vars(counts)] * 10
    return {"by_sentence": rows}


def scores(best: int = 30, longest: int = 70) -> dict[str, dict[str, Any]]:
    return {model: score(best - index, longest) for index, model in enumerate(LABELS)}


def figure_inputs(scores: dict[str, dict[str, Any]], settings: ReportSettings = REPORT) -> Any:
    """What the figures read of a package, whose models were trained up to 50 words, and one up to 80."""
    models = dict.fromkeys(LABELS, SimpleNamespace(max_words=50))
    models["rnnencdec-30"] = SimpleNamespace(max_words=80)
    return SimpleNamespace(
        figure2_scores=lambda: scores, settings=settings, config=SimpleNamespace(models=models)
    )


def curves(figure: Figure) -> Axes:
    axes, _ = figure.get_axes()
    return axes


def test_unknown_words_of_system_without_vocabulary() -> None:
    moses = score(30, 70)
    for row in moses["by_sentence"]:
        row["source_unknown"] = 0
    inputs = figure_inputs({**scores(), "moses": moses}, WITH_MOSES)
    lines = curves(plot_bleu_by_unknown_words(inputs)).get_lines()
    assert np.array_equal(lines[-1].get_ydata(), lines[0].get_ydata())


def test_figure2_axes_and_curves() -> None:
    axes = curves(plot_bleu_by_length(figure_inputs({**scores(), "moses": score(50, 70)}, WITH_MOSES)))
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 60.5), (0, 50))
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    assert [line.get_label() for line in lines] == [*LABELS.values(), "Moses"]
    blue, orange, grey = "#0072b2", "#d55e00", "#666666"
    assert [line.get_color() for line in lines] == [blue, blue, orange, orange, grey]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 5
    assert [line.get_xdata()[0] for line in axes.get_lines() if line not in lines] == [50]


def test_figure2_by_reference_length() -> None:
    by_reference = REPORT.model_copy(update={"figure2_length": "reference"})
    line = curves(plot_bleu_by_length(figure_inputs(scores(), by_reference))).get_lines()[0]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert x[0] == 8, "the references are five words longer"
    assert y[x == 25] == pytest.approx(10.5)


def test_labels_stay_on_the_axis_and_in_order() -> None:
    assert spread_positions([30, 29, 30, 0, 0], [2] * 5, 30) == [27, 25, 29, 1, 3]


def test_point_needs_ten_sentences() -> None:
    few = {"by_sentence": score(30, 30)["by_sentence"] + score(30, 60)["by_sentence"][480:489]}
    line = curves(plot_bleu_by_length(figure_inputs(dict.fromkeys(LABELS, few)))).get_lines()[0]
    known = np.asarray(line.get_xdata())[np.isfinite(np.asarray(line.get_ydata()))]
    assert max(known) == 35, "the last window with sentences of 30 words"


def test_figure2_intervals_and_sentence_counts() -> None:
    with_bands = REPORT.model_copy(update={"bootstrap_samples": 10})
    axes, below = plot_bleu_by_length(figure_inputs(scores(longest=20), with_bands)).get_axes()
    assert len(axes.collections) == 4
    numbers = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in below.patches}
    assert numbers == {words: 10 * (3 <= words <= 20) for words in range(1, 61)}
    left, right = below.get_xlim()
    bars = [bar for bar in below.patches if bar.get_height()]
    assert all(left <= bar.get_x() and bar.get_x() + bar.get_width() <= right for bar in bars)
    assert right == 20.5  # no sentence is longer
    assert not curves(plot_bleu_by_length(figure_inputs(scores(longest=20)))).collections


def test_figure_of_unknown_words() -> None:
    axes, below = plot_bleu_by_unknown_words(figure_inputs(scores(longest=40))).get_axes()
    line = axes.get_lines()[0]
    assert list(line.get_xdata()) == [0, 1, 2, 3, 4]
    values = list(np.asarray(line.get_ydata()))
    assert values == sorted(values, reverse=True)
    assert [bar.get_height() for bar in below.patches] == [70, 170, 270, 370, 380]
    assert below.get_xlabel() == "Unknown words in the source"
