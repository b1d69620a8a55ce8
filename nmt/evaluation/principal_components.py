"""Sentence vectors in the plane in which they differ most, in panels, and their file format.

Figure 2 of Sutskever et al. (2014): "a 2-dimensional PCA projection of the LSTM hidden states".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError
from nmt.io.text_files import read_lines, write_lines

Vectors = NDArray[np.float32]
COLUMNS = ("panel", "x", "y", "share_x", "share_y", "sentence")
MOST = 10_000
"""Maximum number of sentences in a panel, whose vectors are in memory together."""


@dataclass(frozen=True)
class Panel:
    """Sentences in the plane of their first two principal components: points (n, 2), share of variance per axis."""

    sentences: list[str]
    points: NDArray[np.float64]
    shares: tuple[float, float]

    @classmethod
    def of(cls, sentences: Sequence[str], vectors: Sequence[Vectors] | Vectors) -> Panel:
        """Project vectors (n, D). Each axis points to the side with the largest distance from the mean."""
        vectors = np.asarray(vectors)
        centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
        left, lengths, _ = np.linalg.svd(centered, full_matrices=False)
        points = np.zeros((len(vectors), 2))
        axes = min(2, len(lengths))
        points[:, :axes] = left[:, :axes] * lengths[:axes]
        furthest = np.abs(points).argmax(axis=0)
        points *= np.where(points[furthest, [0, 1]] < 0, -1.0, 1.0)
        squares = np.zeros(2)
        squares[:axes] = lengths[:axes] ** 2
        first, second = squares / max(float((lengths**2).sum()), np.finfo(float).tiny)
        return cls(list(sentences), points, (float(first), float(second)))


def write_panels(path: Path, panels: Sequence[Panel]) -> None:
    """Write the points as TSV, one line per sentence."""
    with write_lines(path) as writer:
        writer.write("\t".join(COLUMNS))
        for number, panel in enumerate(panels, start=1):
            shares = [f"{share:.4f}" for share in panel.shares]
            for sentence, point in zip(panel.sentences, panel.points.tolist(), strict=True):
                writer.write(
                    "\t".join([str(number), *(f"{value:.5f}" for value in point), *shares, sentence])
                )


def read_panels(path: Path) -> list[Panel]:
    """Read a file of `write_panels`. A UserError names a malformed line."""
    lines = read_lines(path)
    if next(lines, None) != "\t".join(COLUMNS):
        raise UserError(f"{path}, line 1: expected {', '.join(COLUMNS)}, as `nmt vectors` writes them")
    rows: dict[str, list[tuple[str, list[float]]]] = {}
    for number, line in enumerate(lines, start=2):
        panel, *values = line.split("\t", len(COLUMNS) - 1)
        rows.setdefault(panel, []).append(_row(values, f"{path}, line {number}"))
    if not rows:
        raise UserError(f"{path}: holds no sentences; write it again with `nmt vectors`")
    return [_panel(panel_rows) for panel_rows in rows.values()]


def _row(values: Sequence[str], where: str) -> tuple[str, list[float]]:
    try:
        numbers = [float(value) for value in values[:4]]
        if len(values) != 5 or not np.isfinite(numbers).all():
            raise ValueError
    except ValueError:
        raise UserError(f"{where}: expected {', '.join(COLUMNS)} with tabs between") from None
    return values[4], numbers


def _panel(rows: Sequence[tuple[str, list[float]]]) -> Panel:
    numbers = np.array([values for _, values in rows])
    return Panel([sentence for sentence, _ in rows], numbers[:, :2], (numbers[0, 2], numbers[0, 3]))
