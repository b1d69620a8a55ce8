"""Figure 2 and BLEU against unknown words: axes, curves, intervals, labels."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.figures.bleu_curves import plot_bleu_by_length, plot_bleu_by_unknown_words
from pipeline.results.figures.style import spread_positions
from tests.report_settings import report_settings

LABELS = {
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-30": "RNNsearch-30",
    "rnnencdec-50": "RNNencdec-50",
    "rnnencdec-30": "RNNencdec-30",
}
MODEL_TYPES = {name: name.partition("-")[0] for name in LABELS}
SETTINGS = report_settings(LABELS | {"moses": "Moses"}, figure2_models=list(LABELS), model_types=MODEL_TYPES)
REPORT = ReportSettings.model_validate(SETTINGS)


def make_sentences(best: int, longest: int) -> list[dict[str, Any]]:
    """Ten scored sentences of each length, whose translations get worse with it, from about `best` percent right."""
    rows: list[dict[str, Any]] = []
    for words in range(3, longest + 1):
        right = max(1, best - words)
        counts = {"correct": [right] * 4, "total": [100] * 4, "hypothesis_words": 100, "reference_words": 100}
        row = {"source_length": words, "reference_length": words + 5, "source_unknown": words // 10}
        rows += [row | counts] * 10
    return rows


def figure_inputs(longest: int, bootstrap_samples: int = 0) -> Any:
    """What the figures read of a package, whose models were trained up to 50 words, and one up to 80."""
    sentences = {model: make_sentences(30 - index, longest) for index, model in enumerate(LABELS)}
    sentences["moses"] = [row | {"source_unknown": 0} for row in make_sentences(50, longest)]
    models = dict.fromkeys(LABELS, SimpleNamespace(max_words=50))
    models["rnnencdec-30"] = SimpleNamespace(max_words=80)
    settings = REPORT.model_copy(update={"bootstrap_samples": bootstrap_samples})
    config = SimpleNamespace(models=models)
    bootstrap = Bootstrap(bootstrap_samples, seed=1)
    return SimpleNamespace(
        figure2_sentences=lambda: sentences, settings=settings, config=config, bootstrap=bootstrap
    )


def test_figure2_axes_and_curves() -> None:
    axes, _ = plot_bleu_by_length(figure_inputs(70)).get_axes()
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 60.5), (0, 50))
    assert not axes.collections, "there are no bands"
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    assert [line.get_label() for line in lines] == [*LABELS.values(), "Moses"]
    blue, orange, grey = "#0072b2", "#d55e00", "#666666"
    assert [line.get_color() for line in lines] == [blue, blue, orange, orange, grey]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 5
    assert [line.get_xdata()[0] for line in axes.get_lines() if line not in lines] == [50]


def test_labels_stay_on_the_axis_and_in_order() -> None:
    assert spread_positions([1, 0.9, 1, 0, 0], [0.0625] * 5) == [0.90625, 0.84375, 0.96875, 0.03125, 0.09375]


def test_figure2_intervals_and_sentence_counts() -> None:
    axes, below = plot_bleu_by_length(figure_inputs(20, bootstrap_samples=10)).get_axes()
    assert len(axes.collections) == 5
    numbers = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in below.patches}
    assert numbers == {words: 10 * (3 <= words <= 20) for words in range(1, 61)}
    assert below.get_xlim()[1] == 20.5, "no sentence is longer"


def test_figure_of_unknown_words() -> None:
    axes, below = plot_bleu_by_unknown_words(figure_inputs(40)).get_axes()
    first, *_, moses = axes.get_lines()
    # Moses has no vocabulary, so the first model's says which words are unknown
    assert list(first.get_xdata()) == list(moses.get_xdata()) == [0, 1, 2, 3, 4]
    values = list(np.asarray(first.get_ydata()))
    assert values == sorted(values, reverse=True)
    assert [bar.get_height() for bar in below.patches] == [70, 170, 270, 370, 380]
