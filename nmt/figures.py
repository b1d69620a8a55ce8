"""Figures 2 and 3, drawn as in the paper.

Equal input gives equal bytes: no dates, and no settings of the user's.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from nmt.errors import UserError
from nmt.evaluation import bleu_by_length
from nmt.files import atomic_path
from nmt.records import Record
from nmt.settings import Report

END_LABEL = "<end>"
PANELS = 4

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "text.parse_math": False,  # words may hold dollar signs
    "savefig.dpi": 200,
}
COLORS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's, for colour-blind eyes too; without their yellow, which is too light for a line on white."""
# a line style a curve, in the order of the legend
_LINES = tuple(zip(COLORS, ("-", "-.", "--", ":", "-", "--"), strict=False))
# the paper's axis says "Sentence length"; where it is not the source's, ours says whose
_LENGTHS = {
    "source": "Sentence length",
    "reference": "Sentence length (reference)",
    "both": "Sentence length (source and reference)",
}
_CELL_INCHES = 0.19
_LONGEST_PANEL_INCHES = 8.0
_GAP_INCHES = 0.3


@contextmanager
def drawing() -> Iterator[None]:
    """Settings of every figure, and none of the user's."""
    with style.context(["default", _STYLE]):
        yield


def save(figure: Figure, pdf: Path, png: Path) -> None:
    """Write both forms, each whole or not at all, without dates."""
    with drawing():
        with atomic_path(pdf) as temporary:
            figure.savefig(temporary, format="pdf", metadata={"CreationDate": None})
        with atomic_path(png) as temporary:
            figure.savefig(temporary, format="png", metadata={"Software": None})


def figure2(scores: Mapping[str, Mapping[str, Any]], settings: Report) -> Figure:
    """Figure 2: BLEU of the translations of the whole test set against the length of the sentences.

    `scores` maps ids to what `score` wrote; curves and legend follow `figure2_models`.
    """
    absent = [model for model in settings.figure2_models if model not in scores]
    if absent:
        raise UserError(
            f"artifacts.figure2_models names {absent[0]!r}, which has no score; give its file with --score"
        )
    with drawing():
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        highest = max(
            _draw_curve(axes, scores[model], index, settings) for index, model in _numbered(settings)
        )
        _frame_figure2(axes, highest, settings)
    return figure


def _numbered(settings: Report) -> list[tuple[int, str]]:
    return list(enumerate(settings.figure2_models))


def _draw_curve(axes: Axes, score: Mapping[str, Any], index: int, settings: Report) -> float:
    """Draw one model's curve; return its highest point."""
    limits = (settings.figure2_window, settings.figure2_max_words)
    windows = bleu_by_length(score["by_length"], *limits, settings.figure2_length)
    values = [math.nan if window.bleu is None else window.bleu for window in windows]
    color, line = _LINES[index % len(_LINES)]
    label = settings.short_label(settings.figure2_models[index])
    axes.plot(
        [window.words for window in windows], values, color=color, linestyle=line, linewidth=2, label=label
    )
    return max((value for value in values if not math.isnan(value)), default=0.0)


def _frame_figure2(axes: Axes, highest: float, settings: Report) -> None:
    max_words = settings.figure2_max_words
    # the paper's axis ends at 30; a better score moves the end up to the next ten
    top = max(30, min(100, 10 * math.ceil(highest / 10)))
    axes.set_xlim(0, max_words)
    axes.set_ylim(0, top)
    axes.set_xticks(range(0, max_words + 1, 10 if max_words >= 40 else 5))
    axes.set_yticks(range(0, top + 1, 5 if top <= 50 else 10))
    axes.set_xlabel(_LENGTHS[settings.figure2_length])
    axes.set_ylabel("BLEU score")
    axes.grid(color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", handlelength=3.2, framealpha=0.9)


@dataclass(frozen=True)
class Choice:
    """The sentences of Figure 3, (a) first, and what had to be given up to find them ('' when nothing)."""

    records: list[Record]
    compromise: str


def choose_sentences(
    everything: Sequence[Record], known: Sequence[Record], limits: Sequence[int], seed: int
) -> Choice:
    """Draw the sentences of Figure 3.

    (b)-(d) are drawn from `known`, the sentences without unknown words, with `limits[0]` to `limits[1]`
    words of source; where there are too few, from `known` of any length, then from `everything`. (a) is any
    other sentence, of those lengths if there is one. Raises a `UserError` when there is nothing to draw.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    pools = [
        _shuffled([record for record in known if _fits(record, limits)], generator),
        _shuffled([record for record in everything if _fits(record, limits)], generator),
        _shuffled(known, generator),
        _shuffled(everything, generator),
    ]
    samples = _first_distinct([pools[0], pools[2], pools[3]], PANELS - 1, [])
    arbitrary = _first_distinct([pools[1], pools[3]], 1, samples)
    if not samples:
        raise UserError(
            "Figure 3 has no sentence with an attention matrix to show; translate with an RNNsearch model"
        )
    return Choice(arbitrary + samples, _compromise(samples, pools[0], limits))


def _fits(record: Record, limits: Sequence[int]) -> bool:
    return limits[0] <= len(record.source) <= limits[1]


def _shuffled(records: Sequence[Record], generator: np.random.Generator) -> list[Record]:
    return [records[index] for index in generator.permutation(len(records)) if records[index].alignment]


def _first_distinct(pools: Sequence[Sequence[Record]], count: int, taken: Sequence[Record]) -> list[Record]:
    chosen: list[Record] = []
    for record in (record for pool in pools for record in pool):
        if len(chosen) < count and record.line not in {other.line for other in (*chosen, *taken)}:
            chosen.append(record)
    return chosen


def _compromise(samples: Sequence[Record], fitting: Sequence[Record], limits: Sequence[int]) -> str:
    if len(fitting) >= PANELS - 1:
        return ""
    return (
        f"Figure 3: only {len(fitting)} of 3 drawn sentences are as in the paper (no unknown words, "
        f"{limits[0]} to {limits[1]} words), the test set has no more; others fill the rest. "
        "See artifacts.figure3_words"
    )


def figure3(records: Sequence[Record]) -> Figure:
    """Figure 3: up to four alignment matrices, (a)-(d), source words along x, generated words along y.

    A pixel is the weight alpha_ij of the j-th source word for the i-th target word (Eq. 6), 0 black and 1
    white. Sentences of up to 40 words get pixels of the same size.
    """
    with drawing():
        panels = [_Panel.of(record) for record in records]
        columns = [panels[0::2], panels[1::2]]
        rows = [panels[0:2], panels[2:4]]
        widths = [max((panel.width for panel in column), default=0.0) for column in columns]
        heights = [max((panel.height for panel in row), default=0.0) for row in rows]
        size = (sum(widths) + 3 * _GAP_INCHES, sum(heights) + 3 * _GAP_INCHES)
        figure = Figure(figsize=size)
        for index, panel in enumerate(panels):
            row, column = divmod(index, 2)
            right = sum(widths[: column + 1]) + (column + 1) * _GAP_INCHES
            right -= (widths[column] - panel.width) / 2
            top = size[1] - sum(heights[:row]) - (row + 1) * _GAP_INCHES
            panel.draw(figure, right, top, f"({'abcd'[index]})")
    return figure


@dataclass(frozen=True)
class _Panel:
    """One matrix with its words, in inches."""

    weights: np.ndarray
    source: list[str]
    target: list[str]
    cell: float
    left: float
    above: float

    @classmethod
    def of(cls, record: Record) -> _Panel:
        weights = np.asarray(record.alignment, dtype=np.float64)
        source = _labels(record.source, weights.shape[1])
        target = _labels(record.target, weights.shape[0])
        cell = min(_CELL_INCHES, _LONGEST_PANEL_INCHES / max(weights.shape))
        size = _font_points(cell)
        return cls(weights, source, target, cell, _widest(target, size), _widest(source, size))

    @property
    def width(self) -> float:
        return self.left + self.cell * len(self.weights[0])

    @property
    def height(self) -> float:
        below = 0.3  # for the panel's letter
        return self.above + self.cell * len(self.weights) + below

    def draw(self, figure: Figure, right: float, top: float, letter: str) -> None:
        """Draw with the matrix' right and the labels' upper edge at these places, from the lower left."""
        rows, columns = self.weights.shape
        width, height = columns * self.cell, rows * self.cell
        total_width, total_height = figure.get_size_inches()
        place = (right - width, top - self.above - height, width, height)
        box = np.asarray(place) / [total_width, total_height, total_width, total_height]
        axes = figure.add_axes((box[0], box[1], box[2], box[3]))
        axes.imshow(self.weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
        font = _font_points(self.cell)
        axes.set_xticks(range(columns), self.source, rotation=90, fontsize=font)
        axes.set_yticks(range(rows), self.target, fontsize=font)
        axes.tick_params(length=2, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.text(0.5, -0.08 / height, letter, transform=axes.transAxes, ha="center", va="top", fontsize=11)


def _labels(words: Sequence[str], count: int) -> list[str]:
    """Words as people write them (Moses' tokenizer writes &apos;), with the end symbol if it has a place."""
    return [html.unescape(word) for word in [*words, END_LABEL][:count]]


def _font_points(cell: float) -> float:
    return 72 * cell * 0.62


def _widest(words: Sequence[str], points: float) -> float:
    """Inches that the longest of these words takes beside the matrix, tick and padding included."""
    ends = (
        TextPath((0, 0), word, size=points, usetex=False).get_extents().x1 for word in words if word.strip()
    )
    return max(ends, default=0.0) / 72 + 0.09
