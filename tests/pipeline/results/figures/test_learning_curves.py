"""The figure of learning curves: whose points are drawn where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from nmt.plots.style import COLORS
from pipeline.config.display import ReportSettings
from pipeline.results.figures.learning_curves import RunCurves, make_learning_curves, read_curves
from tests.report_settings import report_settings

LABELS = {
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-50-star": "RNNsearch-50*",
    "rnnencdec-50": "RNNencdec-50",
}
SETTINGS = report_settings(LABELS)
REPORT = ReportSettings.model_validate(SETTINGS)
XY = list[tuple[float, float]]


def window(update: int, nll: float) -> dict[str, Any]:
    return {"update": update, "epoch": 0.1, "train_nll": nll, "gradient_norm": 2.0, "seconds": 1.0}


def validation(update: int, nll: float) -> dict[str, Any]:
    return {"update": update, "epoch": 0.1, "dev_nll": nll, "seconds": 1.0}


FIRST = [window(5, 90.0), window(10, 80.0), validation(10, 70.0), window(15, 60.0), window(20, 50.0)]
FIRST += [validation(20, 45.0)]
# what a run that goes on writes: a validation of the weights that it begins with, then its own windows
STAR = [validation(20, 45.0), window(25, 40.0), window(30, 35.0), validation(30, 30.0)]
SECOND = [window(10, 85.0), validation(10, 75.0), window(20, 55.0), validation(20, 48.0)]
SECOND_STAR = [validation(20, 48.0), window(30, 36.0), validation(30, 33.0)]
PLAIN = [window(10, 95.0), validation(10, 88.0)]


def write(folder: Path, model: str, seed: int, lines: Sequence[dict[str, Any]]) -> tuple[Path, Path]:
    """Summary and history of a run."""
    summary, history = folder / f"{model}.{seed}.json", folder / f"{model}.{seed}.jsonl"
    base = "rnnsearch-50" if model.endswith("star") else None
    value = {"model": model, "seed": seed, "continue_from": base}
    summary.write_text(json.dumps(value), encoding="utf-8")
    history.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return summary, history


@pytest.fixture
def files(tmp_path: Path) -> list[tuple[Path, Path]]:
    """Two seeds of RNNsearch-50 and of what goes on from it, one of RNNencdec-50."""
    return [
        write(tmp_path, "rnnencdec-50", 1, PLAIN),
        write(tmp_path, "rnnsearch-50", 1, FIRST),
        write(tmp_path, "rnnsearch-50", 2, SECOND),
        write(tmp_path, "rnnsearch-50-star", 1, STAR),
        write(tmp_path, "rnnsearch-50-star", 2, SECOND_STAR),
    ]


def xy(line: Line2D) -> XY:
    return list(
        zip(np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist(), strict=True)
    )


def panels(runs: list[RunCurves]) -> tuple[Axes, Axes]:
    development, training = make_learning_curves(runs, REPORT).get_axes()
    return development, training


def test_learning_curves_points(files: list[tuple[Path, Path]]) -> None:
    development, training = panels(read_curves(files))
    assert [xy(line) for line in development.get_lines()] == [
        [(10, 88.0)],
        [(10, 70.0), (20, 45.0)],
        [(10, 75.0), (20, 48.0)],
        [(20, 45.0), (30, 30.0)],
        [(20, 48.0), (30, 33.0)],
    ]
    assert [xy(line) for line in training.get_lines()] == [
        [(10, 95.0)],
        [(5, 90.0), (10, 80.0), (15, 60.0), (20, 50.0)],
        [(10, 85.0), (20, 55.0)],
        # a run that goes on starts where the same seed's curve ends
        [(20, 50.0), (25, 40.0), (30, 35.0)],
        [(20, 55.0), (30, 36.0)],
    ]


def test_learning_curves_leave_out_nan(tmp_path: Path) -> None:
    lines = [
        window(5, 90.0),
        window(10, float("nan")),
        {**window(15, 80.0), "train_nll": None},
        window(20, 70.0),
    ]
    _, training = panels(read_curves([write(tmp_path, "rnnsearch-50", 1, lines)]))
    assert xy(training.get_lines()[0]) == [(5, 90.0), (20, 70.0)]


def test_more_models_than_colours_have_different_lines() -> None:
    points, count = ((10, 50.0), (20, 40.0)), len(COLORS) + 1
    runs = [RunCurves(f"rnnsearch-{index}", 1, None, points, points) for index in range(count)]
    report = REPORT.model_copy(update={"labels": {run.model: run.model for run in runs}})
    for panel in make_learning_curves(runs, report).get_axes():
        assert len({(line.get_color(), line.get_linestyle()) for line in panel.get_lines()}) == count
