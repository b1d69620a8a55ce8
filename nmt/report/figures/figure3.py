"""Figure 3: matrices of attention between source and generated words, and the choice of their sentences."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from nmt.errors import UserError
from nmt.evaluation.translations import Record
from nmt.report.example_sentences import papers_own
from nmt.report.figures.style import drawing

END_LABEL = "<end>"
PANELS = 4

_CELL_INCHES = 0.19
_LONGEST_PANEL_INCHES = 8.0
_GAP_INCHES = 0.3


@dataclass(frozen=True)
class Choice:
    """The sentences of Figure 3, (a) first, and what had to be given up to find them ('' when nothing)."""

    records: list[Record]
    compromise: str


def choose_sentences(
    everything: Sequence[Record],
    known: Sequence[Record],
    limits: Sequence[int],
    seed: int,
    openings: Sequence[str] = (),
) -> Choice:
    """Choose the sentences of Figure 3.

    (b)-(d) are the paper's own, which begin with `openings`, where the test set holds them; others are drawn
    from `known`, the sentences without unknown words, with `limits[0]` to `limits[1]` words of source. Where
    there are too few, they come from `known` of any length, then from `everything`. (a) is any other
    sentence, of those lengths if there is one. Raises a `UserError` when there is nothing to draw.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    pools = [
        _shuffled([record for record in known if _fits(record, limits)], generator),
        _shuffled([record for record in everything if _fits(record, limits)], generator),
        _shuffled(known, generator),
        _shuffled(everything, generator),
    ]
    aligned = [record for record in (*known, *everything) if record.alignment]
    samples = _first_distinct([papers_own(aligned, openings), pools[0], pools[2], pools[3]], PANELS - 1, [])
    arbitrary = _first_distinct([pools[1], pools[3]], 1, samples)
    if not samples:
        raise UserError(
            "Figure 3 has no sentence with an attention matrix to show; translate with an RNNsearch model"
        )
    drawn = PANELS - 1 - len(papers_own(samples, openings))
    return Choice(arbitrary + samples, _compromise(drawn, len(pools[0]), limits))


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


def _compromise(wanted: int, fitting: int, limits: Sequence[int]) -> str:
    if fitting >= wanted:
        return ""
    return (
        f"Figure 3: only {fitting} of {wanted} drawn sentences are as in the paper (no unknown words, "
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
