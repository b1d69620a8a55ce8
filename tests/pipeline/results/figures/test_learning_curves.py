"""The figure of learning curves: whose points are drawn where."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from pipeline.config.artifacts import ReportSettings
from pipeline.results.figures.learning_curves import make_learning_curves
from pipeline.results.figures.style import DASHES
from pipeline.results.seeds import Result
from tests.report_settings import report_settings

LABELS = {
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-50-star": "RNNsearch-50*",
    "rnnencdec-50": "RNNencdec-50",
}
SETTINGS = report_settings(LABELS)
REPORT = ReportSettings.model_validate(SETTINGS)


def window(update: int, nll: float | None) -> Result:
    return {"update": update, "epoch": 0.1, "train_nll": nll, "gradient_norm": 2.0, "seconds": 1.0}


def validation(update: int, nll: float) -> Result:
    return {"update": update, "epoch": 0.1, "dev_nll": nll, "seconds": 1.0}


FIRST = [window(5, 90.0), window(10, 80.0), validation(10, 70.0), window(15, 60.0), window(20, 50.0)]
FIRST += [validation(20, 45.0)]
# what a continued run writes: a validation of the weights that it begins with, then its own windows
STAR = [validation(20, 45.0), window(25, 40.0), window(30, 35.0), validation(30, 30.0)]
SECOND = [window(10, 85.0), validation(10, 75.0), window(20, 55.0), validation(20, 48.0)]
SECOND_STAR = [validation(20, 48.0), window(30, 36.0), validation(30, 33.0)]
RUNS = [
    ("rnnencdec-50", [window(10, 95.0), validation(10, 88.0)]),
    ("rnnsearch-50", FIRST),
    ("rnnsearch-50", SECOND),
    ("rnnsearch-50-star", STAR),
    ("rnnsearch-50-star", SECOND_STAR),
]


def points_of(axes: Axes) -> list[list[list[float]]]:
    """The points of each line, as [update, NLL]."""
    return [np.asarray(line.get_xydata()).tolist() for line in axes.get_lines()]


def test_learning_curves_points() -> None:
    development, training = make_learning_curves(RUNS, REPORT).get_axes()
    assert points_of(development) == [
        [[10, 88.0]],
        [[10, 70.0], [20, 45.0]],
        [[10, 75.0], [20, 48.0]],
        [[20, 45.0], [30, 30.0]],
        [[20, 48.0], [30, 33.0]],
    ]
    assert points_of(training) == [
        [[10, 95.0]],
        [[5, 90.0], [10, 80.0], [15, 60.0], [20, 50.0]],
        [[10, 85.0], [20, 55.0]],
        [[25, 40.0], [30, 35.0]],
        [[30, 36.0]],
    ]


def test_learning_curves_leave_out_nan() -> None:
    lines = [window(5, 90.0), window(10, float("nan")), window(15, None), window(20, 70.0)]
    _, training = make_learning_curves([("rnnsearch-50", lines)], REPORT).get_axes()
    assert points_of(training) == [[[5, 90.0], [20, 70.0]]]


def test_short_range_has_several_ticks() -> None:
    lines = [window(5, 130.0), window(20, 33.0)]
    _, training = make_learning_curves([("rnnsearch-50", lines)], REPORT).get_axes()
    low, high = training.get_ylim()
    assert sum(low < tick < high for tick in training.get_yticks()) >= 3


def test_labels_of_many_models_are_beside_their_panel() -> None:
    labels = {f"rnnsearch-{index}": f"RNNsearch-50 (ablation {index})" for index in range(12)}
    report = REPORT.model_copy(update={"labels": labels})
    for panel in make_learning_curves([(model, FIRST) for model in labels], report).get_axes():
        heights = [text.xyann[1] for text in panel.texts if isinstance(text, Annotation)]
        assert len(heights) == 12 and 0 < min(heights) < max(heights) < 1


def test_more_models_than_dashes_have_different_lines() -> None:
    count = len(DASHES) + 1
    runs = [(f"rnnsearch-{index}", FIRST) for index in range(count)]
    report = REPORT.model_copy(update={"labels": {model: model for model, _ in runs}})
    for panel in make_learning_curves(runs, report).get_axes():
        assert len({(line.get_color(), line.get_linestyle()) for line in panel.get_lines()}) == count
